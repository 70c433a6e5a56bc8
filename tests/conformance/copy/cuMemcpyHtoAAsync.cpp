#include "conformance/copy/array_run.h"

namespace limen::conform {

CONFORM(cuMemcpyHtoAAsync, a_run_of_texels) {
  CUarray array = numbered_array();
  uint8_t from[64];
  std::memset(from, 0x31, sizeof from);
  expect_code("copies", cuMemcpyHtoAAsync(array, 32, from, 48, nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("before the run", texel(array, 7), 7.0f);
  expect("the run", bits_of(texel(array, 8)), 0x31313131u);
  expect("its end, in the next row", bits_of(texel(array, 19)), 0x31313131u);
  expect("behind the run", texel(array, 20), 20.0f);
}

CONFORM(cuMemcpyHtoAAsync, what_cannot_be) {
  static uint8_t words[4096];
  expect_code("no array", cuMemcpyHtoAAsync(nullptr, 0, words, 16, nullptr),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  expect_code("too long", cuMemcpyHtoAAsync(numbered_array(), 0, words, 4096, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemcpyHtoAAsync(nullptr, 0, nullptr, 0, nullptr), CUDA_SUCCESS);
}

}  // namespace limen::conform
