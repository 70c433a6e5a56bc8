#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxPopCurrent, until_none_is_left) {
  CUcontext primary = nullptr, popped = nullptr, current = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  expect_code("pop", cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  expect_true("what was current", popped == primary);
  REQUIRE(cuCtxGetCurrent(&current));
  expect("nothing is", current, nullptr);
  expect_code("empty", cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(cuCtxPushCurrent(primary));
  expect_code("without result", cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
}

}  // namespace limen::conform
