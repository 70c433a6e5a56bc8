#include "conformance/copy/set_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr address, uint16_t value, size_t count) {
  return cuMemsetD16(address, value, count);
}

CONFORM(cuMemsetD16, a_run_of_elements) { fills_a_run<uint16_t>(call); }
CONFORM(cuMemsetD16, what_cannot_be) { refuses_a_run<uint16_t>(call); }

CONFORM_WITH(cuMemsetD16, needs_a_context, initialised) {
  expect_code("no context", cuMemsetD16(0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
