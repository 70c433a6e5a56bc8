#include "conformance/copy/array_run.h"

namespace limen::conform {

CONFORM(cuMemcpyAtoH, a_run_of_texels) {
  CUarray array = numbered_array();
  float to[16] = {};
  expect_code("copies", cuMemcpyAtoH(to, array, 32, 48), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  const float first = to[0], last = to[11];
  expect("first", first, 8.0f);
  expect("last, of the next row", last, 19.0f);
}

CONFORM(cuMemcpyAtoH, what_cannot_be) {
  static uint8_t words[4096];
  expect_code("no array", cuMemcpyAtoH(words, nullptr, 0, 16),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  expect_code("too long", cuMemcpyAtoH(words, numbered_array(), 0, 4096), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemcpyAtoH(nullptr, nullptr, 0, 0), CUDA_SUCCESS);
}

}  // namespace limen::conform
