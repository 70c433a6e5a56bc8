#include "conformance/copy/box_case.h"

namespace limen::conform {

static CUresult call(const CUDA_MEMCPY3D* copy) { return cuMemcpy3D(copy); }

CONFORM(cuMemcpy3D, boxes) { deep_boxes<CUDA_MEMCPY3D>(call); }
CONFORM(cuMemcpy3D, what_cannot_be) { refuses_deep_boxes<CUDA_MEMCPY3D>(call); }

CONFORM_WITH(cuMemcpy3D, needs_a_context, initialised) {
  expect_code("no context", call(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
