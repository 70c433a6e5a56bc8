#include "conformance/copy/array_run.h"

namespace limen::conform {

CONFORM(cuMemcpyDtoA, a_run_of_texels) {
  CUarray array = numbered_array();
  Buffer from(64);
  REQUIRE(cuMemsetD8(from, 0x31, 64));
  expect_code("copies", cuMemcpyDtoA(array, 32, from, 48), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("before the run", texel(array, 7), 7.0f);
  expect("the run", bits_of(texel(array, 8)), 0x31313131u);
  expect("its end, in the next row", bits_of(texel(array, 19)), 0x31313131u);
  expect("behind the run", texel(array, 20), 20.0f);
}

CONFORM(cuMemcpyDtoA, what_cannot_be) {
  Buffer buffer(4096);
  expect_code("no array", cuMemcpyDtoA(nullptr, 0, buffer, 16),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  expect_code("too long", cuMemcpyDtoA(numbered_array(), 0, buffer, 4096),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemcpyDtoA(nullptr, 0, 0, 0), CUDA_SUCCESS);
}

}  // namespace limen::conform
