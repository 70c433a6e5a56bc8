#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceTotalMem, some, initialised) {
  size_t bytes = 0;
  expect_code("get", cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
  expect_true("at least 64 MiB", bytes >= size_t{64} << 20);
  expect_code("no result", cuDeviceTotalMem(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceTotalMem(&bytes, 99), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceTotalMem, is_what_cuMemGetInfo_says, initialised) {
  size_t bytes = 0;
  expect_code("asks", cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
  expect_true("much memory", bytes >= size_t{32} << 20);
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  REQUIRE(cuCtxSetCurrent(context));
  size_t left = 0, total = 0;
  REQUIRE(cuMemGetInfo(&left, &total));
  expect_true("the same", total == bytes);
}

CONFORM_WITH(cuDeviceTotalMem, the_first_abi_has_32_bits, initialised) {
  auto first =
      reinterpret_cast<CUresult (*)(unsigned*, CUdevice)>(driver_symbol("cuDeviceTotalMem"));
  unsigned few = 0;
  expect_code("first", first(&few, 0), CUDA_SUCCESS);
  expect_true("some", few > 0);
  expect_code("first, no result", first(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuDeviceTotalMem, wrong_arguments, initialised) {
  size_t bytes = 0;
  expect_code("no device", cuDeviceTotalMem(&bytes, 99), CUDA_ERROR_INVALID_DEVICE);
  expect_code("no result", cuDeviceTotalMem(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("neither", cuDeviceTotalMem(nullptr, 99), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuDeviceTotalMem, needs_cuInit, nothing) {
  size_t bytes;
  expect_code("not initialised", cuDeviceTotalMem(&bytes, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
