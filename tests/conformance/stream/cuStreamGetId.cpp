#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuStreamGetId, unique) {
  CUstream one = nullptr, two = nullptr;
  REQUIRE(cuStreamCreate(&one, 0));
  REQUIRE(cuStreamCreate(&two, 0));
  unsigned long long first = 0, second = 0, base = 0;
  expect_code("first", cuStreamGetId(one, &first), CUDA_SUCCESS);
  expect_code("second", cuStreamGetId(two, &second), CUDA_SUCCESS);
  expect_code("default", cuStreamGetId(nullptr, &base), CUDA_SUCCESS);
  expect_true("all differ", first != second && first != base && second != base);
  expect_code("no result", cuStreamGetId(one, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
