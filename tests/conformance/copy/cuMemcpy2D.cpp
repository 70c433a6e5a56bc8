#include "conformance/copy/box_case.h"

namespace limen::conform {

static CUresult call(const CUDA_MEMCPY2D* copy) { return cuMemcpy2D(copy); }

CONFORM(cuMemcpy2D, boxes) { flat_boxes(call); }
CONFORM(cuMemcpy2D, boxes_of_arrays) { flat_boxes_of_arrays(call); }
CONFORM(cuMemcpy2D, what_cannot_be) { refuses_flat_boxes(call); }

CONFORM_WITH(cuMemcpy2D, needs_a_context, initialised) {
  expect_code("no context", call(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
