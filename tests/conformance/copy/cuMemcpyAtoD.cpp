#include "conformance/copy/array_run.h"

namespace limen::conform {

CONFORM(cuMemcpyAtoD, a_run_of_texels) {
  CUarray array = numbered_array();
  Buffer to(64);
  expect_code("copies", cuMemcpyAtoD(to, array, 32, 48), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  const float first = read<float>(to), last = read<float>(to.at(44));
  expect("first", first, 8.0f);
  expect("last, of the next row", last, 19.0f);
}

CONFORM(cuMemcpyAtoD, what_cannot_be) {
  Buffer buffer(4096);
  expect_code("no array", cuMemcpyAtoD(buffer, nullptr, 0, 16),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  expect_code("too long", cuMemcpyAtoD(buffer, numbered_array(), 0, 4096),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemcpyAtoD(0, nullptr, 0, 0), CUDA_SUCCESS);
}

}  // namespace limen::conform
