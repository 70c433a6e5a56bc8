#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetTexture1DLinearMaxWidth, by_format, initialised) {
  size_t width = 0;
  expect_code("float", cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 1, 0),
              CUDA_SUCCESS);
  expect_true("large", width >= size_t{1} << 27);
  expect_code("three channels",
              cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 3, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuDeviceGetTexture1DLinearMaxWidth(nullptr, CU_AD_FORMAT_FLOAT, 1, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
