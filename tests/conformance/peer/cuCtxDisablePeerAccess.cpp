#include "conformance/conform.h"

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

}  // namespace limen::conform
