#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetUuid, the_same_each_time, initialised) {
  CUuuid one{}, two{};
  expect_code("get", cuDeviceGetUuid(&one, 0), CUDA_SUCCESS);
  expect_code("again", cuDeviceGetUuid(&two, 0), CUDA_SUCCESS);
  expect_true("the same", std::memcmp(&one, &two, sizeof one) == 0);
  const CUuuid none{};
  expect_true("not empty", std::memcmp(&one, &none, sizeof one) != 0);
  expect_code("no result", cuDeviceGetUuid(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetUuid(&one, 99), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
