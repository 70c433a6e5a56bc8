#include "conformance/copy/box_case.h"

namespace limen::conform {

static CUresult call(const CUDA_MEMCPY3D* copy) { return cuMemcpy3DAsync(copy, nullptr); }

CONFORM(cuMemcpy3DAsync, boxes) { deep_boxes<CUDA_MEMCPY3D>(call); }
CONFORM(cuMemcpy3DAsync, what_cannot_be) { refuses_deep_boxes<CUDA_MEMCPY3D>(call); }

CONFORM(cuMemcpy3DAsync, in_stream_order) {
  Buffer from(4096), to(4096);
  boxes_in_stream_order(deep_copy<CUDA_MEMCPY3D>(to, 64, 8, from, 32, 6), from, to,
                        cuMemcpy3DAsync);
}

CONFORM_WITH(cuMemcpy3DAsync, needs_a_context, initialised) {
  expect_code("no context", call(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
