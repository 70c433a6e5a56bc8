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

CONFORM(cuCtxPopCurrent, takes_the_top) {
  CUcontext primary = nullptr, made = nullptr, popped = nullptr, now = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("pops", cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  expect_true("the new one", popped == made);
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("the old one is current", now == primary);
  CUdeviceptr address = 0;
  REQUIRE(cuCtxPushCurrent(popped));
  expect_code("it still works", cuMemAlloc(&address, 16), CUDA_SUCCESS);
  expect_code("without a result", cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  expect_code("the last", cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  expect_true("the primary", popped == primary);
  expect_code("nothing left", cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("nothing left, no result", cuCtxPopCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("none is current", now == nullptr);
}

CONFORM_WITH(cuCtxPopCurrent, needs_a_context, initialised) {
  CUcontext popped;
  expect_code("no context", cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxPopCurrent, needs_cuInit, nothing) {
  CUcontext popped;
  expect_code("not initialised", cuCtxPopCurrent(&popped), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
