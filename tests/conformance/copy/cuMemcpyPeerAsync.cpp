#include "conformance/copy/linear_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  return cuMemcpyPeerAsync(to, context, from, context, bytes, nullptr);
}

CONFORM(cuMemcpyPeerAsync, device_to_device) { device_to_device(call); }

CONFORM(cuMemcpyPeerAsync, in_stream_order) {
  Buffer from(64);
  CUdeviceptr to = 0;
  REQUIRE(cuMemAllocManaged(&to, 64, CU_MEM_ATTACH_GLOBAL));
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  ordered_in_stream(from, reinterpret_cast<volatile uint32_t*>(to), [&](CUstream stream) {
    return cuMemcpyPeerAsync(to, context, from, context, 4, stream);
  });
}

CONFORM(cuMemcpyPeerAsync, what_cannot_be) {
  Buffer to(64), from(64);
  refuses_runs([&](size_t bytes, bool no_to, bool no_from) {
    return call(no_to ? 0 : to.at(), no_from ? 0 : from.at(), bytes);
  });
}

CONFORM_WITH(cuMemcpyPeerAsync, needs_a_context, initialised) {
  expect_code("no context", cuMemcpyPeerAsync(0, nullptr, 0, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
