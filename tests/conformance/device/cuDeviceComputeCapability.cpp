#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceComputeCapability, agrees_with_the_attributes, initialised) {
  int major = -1, minor = -1, wanted = -2;
  expect_code("get", cuDeviceComputeCapability(&major, &minor, 0), CUDA_SUCCESS);
  REQUIRE(cuDeviceGetAttribute(&wanted, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  expect_true("major", major == wanted && major >= 7);
  REQUIRE(cuDeviceGetAttribute(&wanted, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
  expect_true("minor", minor == wanted);
  expect_code("no result", cuDeviceComputeCapability(nullptr, &minor, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceComputeCapability(&major, &minor, 99),
              CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceComputeCapability, is_that_of_the_attributes, initialised) {
  int major = 0, minor = -1, value = -1;
  expect_code("asks", cuDeviceComputeCapability(&major, &minor, 0), CUDA_SUCCESS);
  REQUIRE(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  expect_true("major", major == value && major >= 7);
  REQUIRE(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
  expect_true("minor", minor == value);
  expect_code("no major", cuDeviceComputeCapability(nullptr, &minor, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no minor", cuDeviceComputeCapability(&major, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceComputeCapability(&major, &minor, 99),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("negative device", cuDeviceComputeCapability(&major, &minor, -1),
              CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceComputeCapability, needs_cuInit, nothing) {
  int a, b;
  expect_code("not initialised", cuDeviceComputeCapability(&a, &b, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
