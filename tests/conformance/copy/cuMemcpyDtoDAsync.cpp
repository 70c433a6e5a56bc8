#include "conformance/copy/linear_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return cuMemcpyDtoDAsync(to, from, bytes, nullptr);
}

CONFORM(cuMemcpyDtoDAsync, device_to_device) { device_to_device(call); }

CONFORM(cuMemcpyDtoDAsync, in_stream_order) {
  Buffer from(64);
  CUdeviceptr to = 0;
  REQUIRE(cuMemAllocManaged(&to, 64, CU_MEM_ATTACH_GLOBAL));
  ordered_in_stream(from, reinterpret_cast<volatile uint32_t*>(to),
                    [&](CUstream stream) { return cuMemcpyDtoDAsync(to, from, 4, stream); });
}

CONFORM(cuMemcpyDtoDAsync, what_cannot_be) {
  Buffer to(64), from(64);
  refuses_runs([&](size_t bytes, bool no_to, bool no_from) {
    return call(no_to ? 0 : to.at(), no_from ? 0 : from.at(), bytes);
  });
}

CONFORM_WITH(cuMemcpyDtoDAsync, needs_a_context, initialised) {
  expect_code("no context", cuMemcpyDtoDAsync(0, 0, 0, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
