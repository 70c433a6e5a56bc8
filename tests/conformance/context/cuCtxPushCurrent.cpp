#include "conformance/conform.h"

#include <thread>

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
  expect_code("foreign", cuCtxPushCurrent(foreign_handle<CUcontext>()), CUDA_SUCCESS);
}

CONFORM(cuCtxPushCurrent, makes_current_on_this_thread) {
  CUcontext primary = nullptr, made = nullptr, now = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  REQUIRE(cuCtxPopCurrent(&made));
  expect_code("pushes", cuCtxPushCurrent(made), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("current", now == made);
  expect_code("the same once more", cuCtxPushCurrent(made), CUDA_SUCCESS);
  REQUIRE(cuCtxPopCurrent(nullptr));
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("still current", now == made);
  REQUIRE(cuCtxPopCurrent(nullptr));
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("the first again", now == primary);
  std::thread other([&] {
    CUcontext there = made;
    expect_code("another thread", cuCtxGetCurrent(&there), CUDA_SUCCESS);
    expect_true("has none", there == nullptr);
    expect_code("pushes there", cuCtxPushCurrent(primary), CUDA_SUCCESS);
    expect_code("waits there", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  });
  other.join();
}

CONFORM(cuCtxPushCurrent, wrong_contexts) {
  expect_code("none", cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  CUcontext made = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  REQUIRE(cuCtxDestroy(made));
  expect_code("destroyed", cuCtxPushCurrent(made), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  expect_code("but cannot be used", cuMemAlloc(&address, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUcontext popped = nullptr;
  const CUresult pop = cuCtxPopCurrent(&popped);
  expect_code("it is popped", pop, CUDA_SUCCESS);
  if (pop) return;  // the H200's driver crashes in there, and pops nothing
  expect_true("the same", popped == made);
  expect_code("the one below works", cuMemAlloc(&address, 16), CUDA_SUCCESS);
}

CONFORM(cuCtxPushCurrent, foreign_memory) {
  expect_code("refused", cuCtxPushCurrent(foreign_handle<CUcontext>()), CUDA_SUCCESS);
}

CONFORM_WITH(cuCtxPushCurrent, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxPushCurrent(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
