#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceCanAccessPeer, not_itself, initialised) {
  int can = -1;
  expect_code("itself", cuDeviceCanAccessPeer(&can, 0, 0), CUDA_SUCCESS);
  expect("no", can, 0);
  expect_code("no device", cuDeviceCanAccessPeer(&can, 0, 99), CUDA_ERROR_INVALID_DEVICE);
  expect_code("no result", cuDeviceCanAccessPeer(nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuDeviceCanAccessPeer, two_devices, initialised) {
  int count = 0, can = -1;
  REQUIRE(cuDeviceGetCount(&count));
  if (count < 2) skip("one device");
  expect_code("each other", cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
  expect("yes", can, 1);
}

}  // namespace limen::conform
