#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGet, by_number, initialised) {
  CUdevice device = -1;
  expect_code("first", cuDeviceGet(&device, 0), CUDA_SUCCESS);
  expect("0", device, 0);
  expect_code("negative", cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  expect_code("too many", cuDeviceGet(&device, 999), CUDA_ERROR_INVALID_DEVICE);
  expect_code("no result", cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
