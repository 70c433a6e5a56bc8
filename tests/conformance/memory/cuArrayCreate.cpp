#include "conformance/conform.h"

namespace limen::conform {

namespace {

CUDA_ARRAY_DESCRIPTOR shape(size_t width, size_t height, CUarray_format format, unsigned channels) {
  return {width, height, format, channels};
}

}  // namespace

CONFORM(cuArrayCreate, holds_what_is_copied) {
  CUDA_ARRAY_DESCRIPTOR desc = shape(64, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1), back{};
  CUarray array = nullptr;
  expect_code("one dimension", cuArrayCreate(&array, &desc), CUDA_SUCCESS);
  uint32_t in[64], out[64] = {};
  for (uint32_t i = 0; i < 64; ++i) in[i] = i * i;
  REQUIRE(cuMemcpyHtoA(array, 0, in, sizeof in));
  REQUIRE(cuMemcpyAtoH(out, array, 0, sizeof out));
  expect_true("the same values", std::memcmp(in, out, sizeof in) == 0);
  REQUIRE(cuArrayGetDescriptor(&back, array));
  expect("width", back.Width, 64u);
  expect("height", back.Height, 0u);
  desc = shape(20, 30, CU_AD_FORMAT_FLOAT, 4);
  expect_code("two dimensions", cuArrayCreate(&array, &desc), CUDA_SUCCESS);
  REQUIRE(cuArrayGetDescriptor(&back, array));
  expect("its height", back.Height, 30u);
  expect("its channels", back.NumChannels, 4u);
}

CONFORM(cuArrayCreate, every_plain_format) {
  constexpr CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16,
                                        CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT8,
                                        CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_SIGNED_INT32,
                                        CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
  for (CUarray_format format : formats)
    for (unsigned channels : {1u, 2u, 4u}) {
      CUDA_ARRAY_DESCRIPTOR desc = shape(16, 16, format, channels);
      CUarray array = nullptr;
      expect_code(std::to_string(format) + " by " + std::to_string(channels),
                  cuArrayCreate(&array, &desc), CUDA_SUCCESS);
      REQUIRE(cuArrayDestroy(array));
    }
}

CONFORM(cuArrayCreate, wrong_arguments) {
  CUDA_ARRAY_DESCRIPTOR desc = shape(16, 16, CU_AD_FORMAT_FLOAT, 1);
  CUarray array = nullptr;
  expect_code("no result", cuArrayCreate(nullptr, &desc), CUDA_ERROR_INVALID_VALUE);
  expect_code("no descriptor", cuArrayCreate(&array, nullptr), CUDA_ERROR_INVALID_VALUE);
  desc = shape(0, 16, CU_AD_FORMAT_FLOAT, 1);
  expect_code("no width", cuArrayCreate(&array, &desc), CUDA_ERROR_INVALID_VALUE);
  desc = shape(16, 16, CU_AD_FORMAT_FLOAT, 0);
  expect_code("no channels", cuArrayCreate(&array, &desc), CUDA_ERROR_INVALID_VALUE);
  desc = shape(16, 16, CU_AD_FORMAT_FLOAT, 3);
  expect_code("3 channels", cuArrayCreate(&array, &desc), CUDA_ERROR_INVALID_VALUE);
  desc = shape(16, 16, CU_AD_FORMAT_FLOAT, 5);
  expect_code("5 channels", cuArrayCreate(&array, &desc), CUDA_ERROR_INVALID_VALUE);
  desc = shape(16, 16, CUarray_format(0), 1);
  expect_code("no format", cuArrayCreate(&array, &desc), CUDA_ERROR_INVALID_VALUE);
  desc = shape(131073, 0, CU_AD_FORMAT_FLOAT, 1);
  expect_code("too wide", cuArrayCreate(&array, &desc), CUDA_ERROR_INVALID_VALUE);
  desc = shape(16, 65537, CU_AD_FORMAT_FLOAT, 1);
  expect_code("too high", cuArrayCreate(&array, &desc), CUDA_ERROR_INVALID_VALUE);
  expect_true("no handle", array == nullptr);
  auto first = reinterpret_cast<CUresult (*)(CUarray*, const CUDA_ARRAY_DESCRIPTOR*)>(
      driver_symbol("cuArrayCreate"));
  expect_code("the 32-bit ABI", first(&array, &desc), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuArrayCreate, needs_a_context, initialised) {
  CUarray array;
  CUDA_ARRAY_DESCRIPTOR desc = shape(16, 16, CU_AD_FORMAT_FLOAT, 1);
  expect_code("no context", cuArrayCreate(&array, &desc), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuArrayCreate, needs_cuInit, nothing) {
  CUarray array;
  CUDA_ARRAY_DESCRIPTOR desc = shape(16, 16, CU_AD_FORMAT_FLOAT, 1);
  expect_code("not initialised", cuArrayCreate(&array, &desc), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
