#include "conformance/copy/box_case.h"

namespace limen::conform {

static CUresult call(const CUDA_MEMCPY2D* copy) { return cuMemcpy2DAsync(copy, nullptr); }

CONFORM(cuMemcpy2DAsync, boxes) { flat_boxes(call); }
CONFORM(cuMemcpy2DAsync, boxes_of_arrays) { flat_boxes_of_arrays(call); }
CONFORM(cuMemcpy2DAsync, what_cannot_be) { refuses_flat_boxes(call); }

CONFORM(cuMemcpy2DAsync, in_stream_order) {
  Buffer from(4096), to(4096);
  boxes_in_stream_order(flat_copy(to, 64, from, 64, 32, 4), from, to, cuMemcpy2DAsync);
}

CONFORM_WITH(cuMemcpy2DAsync, needs_a_context, initialised) {
  expect_code("no context", call(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
