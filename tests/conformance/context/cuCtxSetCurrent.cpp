#include "conformance/conform.h"

#include <thread>

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
  expect_code("foreign", cuCtxSetCurrent(foreign_handle<CUcontext>()), CUDA_SUCCESS);
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

CONFORM(cuCtxSetCurrent, replaces_the_top_too) {
  CUcontext primary = nullptr, made = nullptr, now = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("sets", cuCtxSetCurrent(primary), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("current", now == primary);
  REQUIRE(cuCtxPopCurrent(&now));
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("the one below stays", now == primary);
  expect_code("again", cuCtxSetCurrent(primary), CUDA_SUCCESS);
  expect_code("none", cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("none is current", now == nullptr);
  expect_code("none of none", cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  expect_code("nothing works", cuMemAlloc(&address, 16), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxSetCurrent, none_uncovers_the_one_below) {
  CUcontext made = nullptr, primary = nullptr, now = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("none", cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("the primary is current", now == primary);
}

CONFORM(cuCtxSetCurrent, one_context_on_many_threads) {
  CUcontext primary = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  Buffer word(4);
  write<uint32_t>(word, 0);
  CUfunction add = common_kernel("add");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      REQUIRE(cuCtxSetCurrent(primary));
      for (int k = 0; k < 20; ++k) REQUIRE(launch(add, 1, 1, nullptr, word.at(), 1u));
    });
  for (auto& thread : threads) thread.join();
  expect("all launches", read<uint32_t>(word), 160u);
}

CONFORM(cuCtxSetCurrent, a_destroyed_context) {
  CUcontext made = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  REQUIRE(cuCtxDestroy(made));
  expect_code("it may become current", cuCtxSetCurrent(made), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  expect_code("but cannot be used", cuMemAlloc(&address, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM(cuCtxSetCurrent, foreign_memory) {
  expect_code("refused", cuCtxSetCurrent(foreign_handle<CUcontext>()), CUDA_SUCCESS);
}

CONFORM_WITH(cuCtxSetCurrent, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxSetCurrent(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
