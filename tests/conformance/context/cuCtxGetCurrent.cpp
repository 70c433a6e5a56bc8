#include "conformance/conform.h"

#include <thread>

namespace limen::conform {

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
