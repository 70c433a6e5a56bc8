#include "conformance/copy/array_run.h"

namespace limen::conform {

CONFORM(cuMemcpyHtoA, a_run_of_texels) {
  CUarray array = numbered_array();
  uint8_t from[64];
  std::memset(from, 0x31, sizeof from);
  expect_code("copies", cuMemcpyHtoA(array, 32, from, 48), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("before the run", texel(array, 7), 7.0f);
  expect("the run", bits_of(texel(array, 8)), 0x31313131u);
  expect("its end, in the next row", bits_of(texel(array, 19)), 0x31313131u);
  expect("behind the run", texel(array, 20), 20.0f);
}

CONFORM(cuMemcpyHtoA, what_cannot_be) {
  static uint8_t words[4096];
  expect_code("no array", cuMemcpyHtoA(nullptr, 0, words, 16),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  expect_code("too long", cuMemcpyHtoA(numbered_array(), 0, words, 4096), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemcpyHtoA(nullptr, 0, nullptr, 0), CUDA_SUCCESS);
}

}  // namespace limen::conform
