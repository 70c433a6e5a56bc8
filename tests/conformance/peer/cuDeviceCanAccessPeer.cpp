#include "conformance/conform.h"
#include "conformance/two_devices.h"

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

CONFORM_WITH(cuDeviceCanAccessPeer, itself_and_wrong_devices, initialised) {
  int can = -1;
  expect_code("itself", cuDeviceCanAccessPeer(&can, 0, 0), CUDA_SUCCESS);
  expect("no peer of itself", can, 0);
  expect_code("no result", cuDeviceCanAccessPeer(nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceCanAccessPeer(&can, 99, 0), CUDA_ERROR_INVALID_DEVICE);
  expect_code("no peer", cuDeviceCanAccessPeer(&can, 0, 99), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceCanAccessPeer, two_devices_too, nothing) {
  TwoContexts contexts;
  int one = -1, other = -1;
  expect_code("there", cuDeviceCanAccessPeer(&one, 0, 1), CUDA_SUCCESS);
  expect_code("back", cuDeviceCanAccessPeer(&other, 1, 0), CUDA_SUCCESS);
  expect("both ways alike", one, other);
}

CONFORM_WITH(cuDeviceCanAccessPeer, needs_cuInit, nothing) {
  int can;
  expect_code("not initialised", cuDeviceCanAccessPeer(&can, 0, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
