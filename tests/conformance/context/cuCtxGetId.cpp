#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxGetId, unique) {
  unsigned long long first = 0, second = 0, named = 0;
  CUcontext primary = nullptr, other = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  expect_code("current", cuCtxGetId(nullptr, &first), CUDA_SUCCESS);
  expect_code("named", cuCtxGetId(primary, &named), CUDA_SUCCESS);
  expect_true("the same", first == named);
  REQUIRE(cuCtxCreate(&other, nullptr, 0, 0));
  expect_code("another", cuCtxGetId(other, &second), CUDA_SUCCESS);
  expect_true("differs", first != second);
  expect_code("no result", cuCtxGetId(other, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
