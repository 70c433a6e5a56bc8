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

CONFORM_WITH(cuDeviceGetUuid, is_the_same_each_time, initialised) {
  CUuuid one{}, two{};
  expect_code("once", cuDeviceGetUuid(&one, 0), CUDA_SUCCESS);
  expect_code("again", cuDeviceGetUuid(&two, 0), CUDA_SUCCESS);
  expect_true("the same", std::memcmp(one.bytes, two.bytes, 16) == 0);
  CUuuid zero{};
  expect_true("not all zero", std::memcmp(one.bytes, zero.bytes, 16) != 0);
}

CONFORM_WITH(cuDeviceGetUuid, the_first_abi_answers_alike, initialised) {
  auto first = reinterpret_cast<CUresult (*)(CUuuid*, CUdevice)>(driver_symbol("cuDeviceGetUuid"));
  CUuuid one{}, two{};
  expect_code("newest", cuDeviceGetUuid(&one, 0), CUDA_SUCCESS);
  expect_code("first", first(&two, 0), CUDA_SUCCESS);
  expect_true("the same whole device", std::memcmp(one.bytes, two.bytes, 16) == 0);
  expect_code("first, no result", first(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("first, no device", first(&two, 99), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceGetUuid, wrong_arguments, initialised) {
  CUuuid uuid{};
  expect_code("no device", cuDeviceGetUuid(&uuid, 99), CUDA_ERROR_INVALID_DEVICE);
  expect_code("negative device", cuDeviceGetUuid(&uuid, -1), CUDA_ERROR_INVALID_DEVICE);
  expect_code("no result", cuDeviceGetUuid(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("neither", cuDeviceGetUuid(nullptr, 99), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuDeviceGetUuid, needs_cuInit, nothing) {
  CUuuid uuid{};
  expect_code("not initialised", cuDeviceGetUuid(&uuid, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
