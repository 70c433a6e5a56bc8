#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceTotalMem, some, initialised) {
  size_t bytes = 0;
  expect_code("get", cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
  expect_true("at least 64 MiB", bytes >= size_t{64} << 20);
  expect_code("no result", cuDeviceTotalMem(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceTotalMem(&bytes, 99), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
