#include "conformance/memory/array_case.h"

namespace limen::conform {

static CUDA_ARRAY_DESCRIPTOR described(size_t width, size_t height, CUarray_format format,
                                       unsigned channels) {
  CUDA_ARRAY_DESCRIPTOR desc{};
  desc.Width = width, desc.Height = height, desc.Format = format, desc.NumChannels = channels;
  return desc;
}

CONFORM(cuArrayCreate, an_array_that_holds_texels) {
  const auto desc = described(8, 4, CU_AD_FORMAT_UNSIGNED_INT32, 2);
  CUarray array = nullptr;
  expect_code("creates", cuArrayCreate(&array, &desc), CUDA_SUCCESS);
  const uint32_t in[2] = {17, 18};
  uint32_t out[2] = {};
  REQUIRE(cuMemcpyHtoA(array, 3 * 64 + 56, in, 8));
  REQUIRE(cuMemcpyAtoH(out, array, 3 * 64 + 56, 8));
  expect("first channel", out[0], 17u);
  expect("second channel", out[1], 18u);
}

CONFORM(cuArrayCreate, one_dimension) {
  const auto desc = described(100, 0, CU_AD_FORMAT_HALF, 4);
  CUarray array = nullptr;
  expect_code("creates", cuArrayCreate(&array, &desc), CUDA_SUCCESS);
  const uint64_t in = 0x1234567890abcdefu;
  uint64_t out = 0;
  REQUIRE(cuMemcpyHtoA(array, 99 * 8, &in, 8));
  REQUIRE(cuMemcpyAtoH(&out, array, 99 * 8, 8));
  expect("the last texel", out, in);
}

CONFORM(cuArrayCreate, wrong_arguments) {
  CUarray array = nullptr;
  auto desc = described(8, 4, CU_AD_FORMAT_FLOAT, 1);
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no result", cuArrayCreate(nullptr, &desc), bad);
  expect_code("no description", cuArrayCreate(&array, nullptr), bad);
  desc = described(0, 4, CU_AD_FORMAT_FLOAT, 1);
  expect_code("no width", cuArrayCreate(&array, &desc), bad);
  desc = described(8, 4, CU_AD_FORMAT_FLOAT, 3);
  expect_code("three channels", cuArrayCreate(&array, &desc), bad);
  desc = described(size_t{1} << 30, 4, CU_AD_FORMAT_FLOAT, 1);
  expect_code("too wide", cuArrayCreate(&array, &desc), bad);
}

}  // namespace limen::conform
