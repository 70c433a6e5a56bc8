#include "conformance/copy/linear_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return cuMemcpyDtoD(to, from, bytes);
}

CONFORM(cuMemcpyDtoD, device_to_device) { device_to_device(call); }

CONFORM(cuMemcpyDtoD, what_cannot_be) {
  Buffer to(64), from(64);
  refuses_runs([&](size_t bytes, bool no_to, bool no_from) {
    return call(no_to ? 0 : to.at(), no_from ? 0 : from.at(), bytes);
  });
}

CONFORM_WITH(cuMemcpyDtoD, needs_a_context, initialised) {
  expect_code("no context", cuMemcpyDtoD(0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
