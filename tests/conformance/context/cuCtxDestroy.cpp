#include <atomic>
#include <thread>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuCtxDestroy, waits_for_its_work, initialised) {
  CUcontext outer = nullptr, context = nullptr;
  REQUIRE(cuCtxCreate(&outer, nullptr, 0, 0));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_PORTABLE));
  auto* words = static_cast<volatile uint32_t*>(memory);
  words[0] = 0;
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0));
  Buffer* inside = new Buffer(4);
  CUfunction add = common_kernel("add");
  for (int i = 0; i < 100; ++i)
    REQUIRE(launch(add, 8, 64, nullptr, reinterpret_cast<CUdeviceptr>(memory), 1u));
  expect_code("destroy", cuCtxDestroy(context), CUDA_SUCCESS);
  expect("all work was done", uint32_t{words[0]}, 51200u);
  (void)inside;
  expect_code("twice", cuCtxDestroy(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM_WITH(cuCtxDestroy, while_current_to_another_thread, initialised) {
  CUcontext context = nullptr;
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0));
  CUresult seen = CUDA_SUCCESS, then = CUDA_SUCCESS;
  std::thread other([&] {
    cuCtxSetCurrent(context);
    seen = cuCtxDestroy(context);
    then = cuCtxSynchronize(nullptr);
  });
  other.join();
  expect_code("by another thread", seen, CUDA_SUCCESS);
  expect_code("nothing is current there", then, CUDA_ERROR_INVALID_CONTEXT);
  CUdeviceptr memory = 0;
  expect_code("here it is destroyed", cuMemAlloc(&memory, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM(cuCtxDestroy, wrong_arguments) {
  CUcontext primary = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  expect_code("null", cuCtxDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("primary", cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxDestroy, from_many_threads, initialised) {
  std::atomic<int> good{0}, second{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 8; ++round) {
        CUcontext context = nullptr;
        CUdeviceptr word = 0;
        CUstream stream = nullptr;
        if (cuCtxCreate(&context, nullptr, 0, 0) || cuMemAlloc(&word, 4) ||
            cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) ||
            launch(common_kernel("add"), 4, 64, stream, word, 1u))
          continue;
        good += cuCtxDestroy(context) == CUDA_SUCCESS;
        second += cuCtxDestroy(context) == CUDA_ERROR_CONTEXT_IS_DESTROYED;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect("each once", good.load(), 64);
  expect("and not twice", second.load(), 64);
}

}  // namespace limen::conform
