#include "conformance/conform.h"
#include "conformance/two_devices.h"

namespace limen::conform {

CONFORM(cuCtxEnablePeerAccess, wrong_contexts) {
  CUcontext own = nullptr;
  REQUIRE(cuCtxGetCurrent(&own));
  expect_code("itself", cuCtxEnablePeerAccess(own, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
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

CONFORM_WITH(cuCtxEnablePeerAccess, a_kernel_reads_the_other_device, nothing) {
  TwoContexts contexts;
  int can = 0;
  REQUIRE(cuDeviceCanAccessPeer(&can, 0, 1));
  if (!can) skip("the devices are no peers");
  REQUIRE(cuCtxSetCurrent(contexts.second));
  CUdeviceptr there = 0;
  REQUIRE(cuMemAlloc(&there, 4));
  REQUIRE(cuCtxSetCurrent(contexts.first));
  expect_code("enables", cuCtxEnablePeerAccess(contexts.second, 0), CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, there, 41u));
  expect_code("the kernel ends well", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  expect("its store", read<uint32_t>(there), 41u);
  expect_code("again", cuCtxEnablePeerAccess(contexts.second, 0),
              CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  REQUIRE(cuCtxDisablePeerAccess(contexts.second));
  expect_code("after it was disabled", cuCtxEnablePeerAccess(contexts.second, 0), CUDA_SUCCESS);
  expect_code("flags", cuCtxEnablePeerAccess(contexts.second, 1), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuCtxEnablePeerAccess, wrong_contexts_too) {
  CUcontext own = nullptr;
  REQUIRE(cuCtxGetCurrent(&own));
  expect_code("none", cuCtxEnablePeerAccess(nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("none, with flags", cuCtxEnablePeerAccess(nullptr, 1), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("itself", cuCtxEnablePeerAccess(own, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  CUcontext other = nullptr;
  REQUIRE(cuCtxCreate(&other, nullptr, 0, 0));
  REQUIRE(cuCtxPopCurrent(&other));
  expect_code("of the same device", cuCtxEnablePeerAccess(other, 0),
              CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  REQUIRE(cuCtxDestroy(other));
  expect_code("destroyed", cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM_WITH(cuCtxEnablePeerAccess, needs_a_context, initialised) {
  expect_code("no context", cuCtxEnablePeerAccess(nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxEnablePeerAccess, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxEnablePeerAccess(nullptr, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
