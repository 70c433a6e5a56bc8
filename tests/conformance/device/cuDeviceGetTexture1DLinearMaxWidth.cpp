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

CONFORM_WITH(cuDeviceGetTexture1DLinearMaxWidth, widths_of_formats, initialised) {
  size_t one = 0, four = 0, width = 0;
  expect_code("one float", cuDeviceGetTexture1DLinearMaxWidth(&one, CU_AD_FORMAT_FLOAT, 1, 0),
              CUDA_SUCCESS);
  expect_code("four floats", cuDeviceGetTexture1DLinearMaxWidth(&four, CU_AD_FORMAT_FLOAT, 4, 0),
              CUDA_SUCCESS);
  expect_true("many", one >= (size_t{1} << 27));
  expect_true("not more of the larger", four <= one);
  expect_code("bytes", cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_UNSIGNED_INT8, 2, 0),
              CUDA_SUCCESS);
  expect_true("many of them", width >= (size_t{1} << 27));
}

CONFORM_WITH(cuDeviceGetTexture1DLinearMaxWidth, wrong_arguments, initialised) {
  size_t width = 0;
  expect_code("no result", cuDeviceGetTexture1DLinearMaxWidth(nullptr, CU_AD_FORMAT_FLOAT, 1, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no channels", cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("3 channels", cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 3, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("5 channels", cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 5, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no format", cuDeviceGetTexture1DLinearMaxWidth(&width, CUarray_format(0), 1, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 1, 99),
              CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceGetTexture1DLinearMaxWidth, needs_cuInit, nothing) {
  size_t width;
  expect_code("not initialised",
              cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 1, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
