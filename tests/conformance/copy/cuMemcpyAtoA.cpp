#include "conformance/copy/array_run.h"

namespace limen::conform {

CONFORM(cuMemcpyAtoA, a_run_of_texels) {
  CUarray from = numbered_array(), to = numbered_array();
  expect_code("copies", cuMemcpyAtoA(to, 256, from, 32, 48), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("before the run", texel(to, 63), 63.0f);
  expect("first", texel(to, 64), 8.0f);
  expect("last", texel(to, 75), 19.0f);
  expect("behind the run", texel(to, 76), 76.0f);
}

CONFORM(cuMemcpyAtoA, what_cannot_be) {
  CUarray array = numbered_array();
  expect_code("no array", cuMemcpyAtoA(array, 0, nullptr, 0, 16),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  expect_code("too long", cuMemcpyAtoA(array, 0, array, 0, 4096), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemcpyAtoA(nullptr, 0, nullptr, 0, 0), CUDA_SUCCESS);
}

}  // namespace limen::conform
