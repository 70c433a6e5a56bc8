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

CONFORM(cuCtxGetId, is_unique) {
  CUcontext primary = nullptr, made = nullptr;
  unsigned long long first = 0, again = 1, second = 0, third = 0;
  REQUIRE(cuCtxGetCurrent(&primary));
  expect_code("the current", cuCtxGetId(nullptr, &first), CUDA_SUCCESS);
  expect_code("by its handle", cuCtxGetId(primary, &again), CUDA_SUCCESS);
  expect_true("the same", first == again);
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("another", cuCtxGetId(made, &second), CUDA_SUCCESS);
  expect_true("other than the first", second != first);
  REQUIRE(cuCtxDestroy(made));
  expect_code("a destroyed one", cuCtxGetId(made, &third), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("the next", cuCtxGetId(made, &third), CUDA_SUCCESS);
  expect_true("never used before", third != second && third != first);
  expect_code("no result", cuCtxGetId(primary, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuCtxGetId, foreign_memory) {
  unsigned long long id;
  expect_code("refused", cuCtxGetId(foreign_handle<CUcontext>(), &id),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM_WITH(cuCtxGetId, needs_a_context, initialised) {
  unsigned long long id;
  expect_code("no context", cuCtxGetId(nullptr, &id), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxGetId, needs_cuInit, nothing) {
  unsigned long long id;
  expect_code("not initialised", cuCtxGetId(nullptr, &id), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
