#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetLuid, is_of_windows, initialised) {
  char luid[8] = {};
  unsigned mask = 0;
  expect_code("linux", cuDeviceGetLuid(luid, &mask, 0), CUDA_ERROR_NOT_SUPPORTED);
  expect_code("no result", cuDeviceGetLuid(nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetLuid(luid, &mask, 99), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
