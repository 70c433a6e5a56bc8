#include "conformance/conform.h"
#include "conformance/two_devices.h"

namespace limen::conform {

CONFORM(cuCtxDisablePeerAccess, wrong_contexts) {
  CUcontext own = nullptr;
  REQUIRE(cuCtxGetCurrent(&own));
  expect_code("itself", cuCtxDisablePeerAccess(own), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  expect_code("none", cuCtxDisablePeerAccess(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxDisablePeerAccess, two_devices) {
  int count = 0;
  REQUIRE(cuDeviceGetCount(&count));
  if (count < 2) skip("one device");
  CUcontext peer = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&peer, 1));
  REQUIRE(cuCtxEnablePeerAccess(peer, 0));
  expect_code("disable", cuCtxDisablePeerAccess(peer), CUDA_SUCCESS);
  expect_code("twice", cuCtxDisablePeerAccess(peer), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  expect_code("may be enabled again", cuCtxEnablePeerAccess(peer, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuCtxDisablePeerAccess, only_what_was_enabled, nothing) {
  TwoContexts contexts;
  int can = 0;
  REQUIRE(cuDeviceCanAccessPeer(&can, 0, 1));
  if (!can) skip("the devices are no peers");
  expect_code("never enabled", cuCtxDisablePeerAccess(contexts.second),
              CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  REQUIRE(cuCtxEnablePeerAccess(contexts.second, 0));
  expect_code("disables", cuCtxDisablePeerAccess(contexts.second), CUDA_SUCCESS);
  expect_code("twice", cuCtxDisablePeerAccess(contexts.second), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  expect_code("it may be enabled again", cuCtxEnablePeerAccess(contexts.second, 0), CUDA_SUCCESS);
  REQUIRE(cuCtxSetCurrent(contexts.second));
  expect_code("the other direction was not", cuCtxDisablePeerAccess(contexts.first),
              CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

CONFORM(cuCtxDisablePeerAccess, wrong_contexts_too) {
  CUcontext own = nullptr;
  REQUIRE(cuCtxGetCurrent(&own));
  expect_code("none", cuCtxDisablePeerAccess(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("itself", cuCtxDisablePeerAccess(own), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  CUcontext other = nullptr;
  REQUIRE(cuCtxCreate(&other, nullptr, 0, 0));
  REQUIRE(cuCtxDestroy(other));
  expect_code("destroyed", cuCtxDisablePeerAccess(other), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM_WITH(cuCtxDisablePeerAccess, needs_a_context, initialised) {
  expect_code("no context", cuCtxDisablePeerAccess(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxDisablePeerAccess, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxDisablePeerAccess(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
