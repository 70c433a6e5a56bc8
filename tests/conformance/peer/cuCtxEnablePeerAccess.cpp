#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxEnablePeerAccess, wrong_contexts) {
  CUcontext own = nullptr;
  REQUIRE(cuCtxGetCurrent(&own));
  expect_code("itself", cuCtxEnablePeerAccess(own, 0), CUDA_ERROR_INVALID_DEVICE);
  expect_code("none", cuCtxEnablePeerAccess(nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxEnablePeerAccess, two_devices) {
  int count = 0;
  REQUIRE(cuDeviceGetCount(&count));
  if (count < 2) skip("one device");
  CUcontext peer = nullptr, own = nullptr;
  REQUIRE(cuCtxGetCurrent(&own));
  REQUIRE(cuDevicePrimaryCtxRetain(&peer, 1));
  expect_code("flags", cuCtxEnablePeerAccess(peer, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("enable", cuCtxEnablePeerAccess(peer, 0), CUDA_SUCCESS);
  expect_code("twice", cuCtxEnablePeerAccess(peer, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  REQUIRE(cuCtxPushCurrent(peer));
  CUdeviceptr there = 0;
  REQUIRE(cuMemAlloc(&there, 4));
  REQUIRE(cuCtxPopCurrent(nullptr));
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, there, 15u));
  expect("a kernel writes there", read<uint32_t>(there), 15u);
}

}  // namespace limen::conform
