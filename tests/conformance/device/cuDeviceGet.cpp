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

CONFORM_WITH(cuDeviceGet, the_first_and_no_other_numbers, initialised) {
  CUdevice device = -5;
  expect_code("first", cuDeviceGet(&device, 0), CUDA_SUCCESS);
  expect("its number", device, 0);
  int count = 0;
  REQUIRE(cuDeviceGetCount(&count));
  expect_code("last", cuDeviceGet(&device, count - 1), CUDA_SUCCESS);
  expect("last number", device - count, -1);
  device = -5;
  expect_code("one too many", cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
  expect_code("negative", cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  expect_code("far off", cuDeviceGet(&device, 0x7fffffff), CUDA_ERROR_INVALID_DEVICE);
  expect("left alone by errors", device, -5);
  expect_code("no result", cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result and no device", cuDeviceGet(nullptr, -1), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuDeviceGet, needs_cuInit, nothing) {
  CUdevice device = 0;
  expect_code("not initialised", cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
