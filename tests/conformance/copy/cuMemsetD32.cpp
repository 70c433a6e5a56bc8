#include "conformance/copy/set_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr address, uint32_t value, size_t count) {
  return cuMemsetD32(address, value, count);
}

CONFORM(cuMemsetD32, a_run_of_elements) { fills_a_run<uint32_t>(call); }
CONFORM(cuMemsetD32, what_cannot_be) { refuses_a_run<uint32_t>(call); }

CONFORM_WITH(cuMemsetD32, needs_a_context, initialised) {
  expect_code("no context", cuMemsetD32(0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
