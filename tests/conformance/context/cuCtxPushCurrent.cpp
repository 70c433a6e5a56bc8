#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxPushCurrent, stacks) {
  CUcontext primary = nullptr, other = nullptr, popped = nullptr, current = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  REQUIRE(cuCtxCreate(&other, nullptr, 0, 0));
  expect_code("push", cuCtxPushCurrent(primary), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&current));
  expect_true("on top", current == primary);
  REQUIRE(cuCtxPopCurrent(&popped));
  expect_true("popped", popped == primary);
  REQUIRE(cuCtxGetCurrent(&current));
  expect_true("below it", current == other);
  expect_code("null", cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("foreign", cuCtxPushCurrent(foreign_handle<CUcontext>()), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
