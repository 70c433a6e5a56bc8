#include <thread>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxSetCurrent, replaces_the_top) {
  CUcontext primary = nullptr, other = nullptr, current = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  REQUIRE(cuCtxCreate(&other, nullptr, 0, 0));
  expect_code("set", cuCtxSetCurrent(primary), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&current));
  expect_true("current", current == primary);
  expect_code("none", cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&current));
  expect_true("below it", current == primary);
  expect_code("foreign", cuCtxSetCurrent(foreign_handle<CUcontext>()), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxSetCurrent, each_thread_has_its_own) {
  CUcontext primary = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  CUcontext before = primary, after = nullptr;
  CUresult set = CUDA_ERROR_UNKNOWN;
  std::thread other([&] {
    cuCtxGetCurrent(&before);
    set = cuCtxSetCurrent(primary);
    cuCtxGetCurrent(&after);
  });
  other.join();
  expect("a new thread has none", before, nullptr);
  expect_code("set", set, CUDA_SUCCESS);
  expect_true("then it has", after == primary);
}

}  // namespace limen::conform
