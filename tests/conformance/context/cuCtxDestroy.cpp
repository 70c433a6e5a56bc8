#include "conformance/conform.h"

#include <atomic>
#include <thread>

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
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2; ++round) {
        CUcontext context = nullptr;
        CUdeviceptr word = 0;
        CUstream stream = nullptr;
        if (cuCtxCreate(&context, nullptr, 0, 0) || cuMemAlloc(&word, 4) ||
            cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) ||
            launch(common_kernel("add"), 4, 64, stream, word, 1u))
          continue;
        good += cuCtxDestroy(context) == CUDA_SUCCESS;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect("each once", good.load(), 8);
}

CONFORM(cuCtxDestroy, takes_all_it_owns_along) {
  CUcontext made = nullptr, now = nullptr, before = nullptr;
  REQUIRE(cuCtxGetCurrent(&before));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  REQUIRE(cuEventCreate(&event, CU_EVENT_DEFAULT));
  REQUIRE(cuMemAlloc(&memory, 1 << 20));
  CUfunction kernel = common_kernel("store");
  CUmodule module = nullptr;
  REQUIRE(cuFuncGetModule(&module, kernel));
  REQUIRE(launch(kernel, 1, 1, stream, memory, 5u));
  expect_code("destroys", cuCtxDestroy(made), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("popped", now == before);
  unsigned type = 0;
  expect_code("its memory", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("its memory cannot be freed", cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  expect_code("its stream", cuStreamQuery(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  expect_code("its event", cuEventQuery(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  expect_code("its module", cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuCtxDestroy, another_thread_finds_it_destroyed) {
  CUcontext made = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  REQUIRE(cuCtxPopCurrent(&made));
  std::thread other([&] {
    REQUIRE(cuCtxSetCurrent(made));
    std::thread([&] {
      expect_code("from a thread without it", cuCtxDestroy(made), CUDA_SUCCESS);
    }).join();
    CUcontext now = nullptr;
    CUdeviceptr address = 0;
    expect_code("still there", cuCtxGetCurrent(&now), CUDA_SUCCESS);
    expect_true("the same handle", now == made);
    expect_code("using it", cuMemAlloc(&address, 64), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    expect_code("waiting for it", cuCtxSynchronize(nullptr), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  });
  other.join();
}

CONFORM(cuCtxDestroy, waits_for_its_work_too) {
  CUcontext made = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  static volatile bool over = false;
  REQUIRE(cuLaunchHostFunc(
      stream,
      [](void*) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        over = true;
      },
      nullptr));
  expect_code("destroys", cuCtxDestroy(made), CUDA_SUCCESS);
  expect_true("the work is over", over);
}

CONFORM(cuCtxDestroy, from_its_own_host_function) {
  static CUcontext made = nullptr;
  static volatile int destroy = -1, release = -1, reset = -1;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  CUhostFn ends = [](void*) {
    destroy = static_cast<int>(cuCtxDestroy(made));
    release = static_cast<int>(cuDevicePrimaryCtxRelease(0));
    reset = static_cast<int>(cuDevicePrimaryCtxReset(0));
  };
  REQUIRE(cuLaunchHostFunc(nullptr, ends, nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("itself", int{destroy}, 800);
  expect("the primary context", int{release}, 800);
  expect("resetting it", int{reset}, 800);
  expect_code("afterwards", cuCtxDestroy(made), CUDA_SUCCESS);
}

CONFORM(cuCtxDestroy, wrong_contexts) {
  CUcontext primary = nullptr, made = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  expect_code("none", cuCtxDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("a primary context", cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  REQUIRE(cuCtxDestroy(made));
  expect_code("twice", cuCtxDestroy(made), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  auto first = reinterpret_cast<CUresult (*)(CUcontext)>(driver_symbol("cuCtxDestroy"));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("first ABI", first(made), CUDA_SUCCESS);
  expect_code("first ABI, none", first(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuCtxDestroy, foreign_memory) {
  expect_code("refused", cuCtxDestroy(foreign_handle<CUcontext>()),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM_WITH(cuCtxDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
