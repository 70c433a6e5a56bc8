#include "conformance/copy/set_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr address, uint8_t value, size_t count) {
  return cuMemsetD8(address, value, count);
}

CONFORM(cuMemsetD8, a_run_of_elements) { fills_a_run<uint8_t>(call); }
CONFORM(cuMemsetD8, what_cannot_be) { refuses_a_run<uint8_t>(call); }

CONFORM_WITH(cuMemsetD8, needs_a_context, initialised) {
  expect_code("no context", cuMemsetD8(0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
