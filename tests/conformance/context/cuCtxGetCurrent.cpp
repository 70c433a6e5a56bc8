#include "conformance/conform.h"

#include <thread>

namespace limen::conform {

CONFORM_WITH(cuCtxGetCurrent, none_and_one, initialised) {
  CUcontext current = foreign_handle<CUcontext>(), primary = nullptr;
  expect_code("none", cuCtxGetCurrent(&current), CUDA_SUCCESS);
  expect("null", current, nullptr);
  REQUIRE(cuDevicePrimaryCtxRetain(&primary, 0));
  REQUIRE(cuCtxSetCurrent(primary));
  expect_code("one", cuCtxGetCurrent(&current), CUDA_SUCCESS);
  expect_true("it", current == primary);
  expect_code("no result", cuCtxGetCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuCtxGetCurrent, is_what_was_set) {
  CUcontext primary = nullptr, again = nullptr, retained = nullptr;
  expect_code("asks", cuCtxGetCurrent(&primary), CUDA_SUCCESS);
  expect_code("again", cuCtxGetCurrent(&again), CUDA_SUCCESS);
  expect_true("the same", primary == again && primary);
  REQUIRE(cuDevicePrimaryCtxRetain(&retained, 0));
  expect_true("the primary context", retained == primary);
  std::thread([] {
    CUcontext now = foreign_handle<CUcontext>();
    expect_code("a new thread", cuCtxGetCurrent(&now), CUDA_SUCCESS);
    expect_true("has none", now == nullptr);
  }).join();
  expect_code("no result", cuCtxGetCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxGetCurrent, needs_cuInit, nothing) {
  CUcontext now;
  expect_code("not initialised", cuCtxGetCurrent(&now), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
