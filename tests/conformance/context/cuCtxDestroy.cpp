#include "conformance/conform.h"

#include <thread>

namespace limen::conform {

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
  expect_code("its stream", cuStreamQuery(stream),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200: NVIDIA calls it undefined
  expect_code("its event", cuEventQuery(event),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200: NVIDIA calls it undefined
  expect_code("its module", cuModuleUnload(module),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200: NVIDIA calls it undefined
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

CONFORM(cuCtxDestroy, waits_for_its_work) {
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

CONFORM(cuCtxDestroy, wrong_contexts) {
  CUcontext primary = nullptr, made = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  expect_code("none", cuCtxDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("a primary context", cuCtxDestroy(primary),
              CUDA_ERROR_INVALID_CONTEXT);  // to measure on H200
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  REQUIRE(cuCtxDestroy(made));
  expect_code("twice", cuCtxDestroy(made), CUDA_ERROR_CONTEXT_IS_DESTROYED);  // to measure on H200
  auto first = reinterpret_cast<CUresult (*)(CUcontext)>(driver_symbol("cuCtxDestroy"));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("first ABI", first(made), CUDA_SUCCESS);
  expect_code("first ABI, none", first(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuCtxDestroy, foreign_memory) {
  expect_code("refused", cuCtxDestroy(foreign_handle<CUcontext>()),
              CUDA_ERROR_INVALID_CONTEXT);  // to measure on H200
}

CONFORM_WITH(cuCtxDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxDestroy(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
