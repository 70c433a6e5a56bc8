#include "conformance/conform.h"

#include <chrono>
#include <thread>

namespace limen::conform {

CONFORM(cuMemFreeHost, memory_is_gone) {
  void* memory = nullptr;
  unsigned flags = 0;
  REQUIRE(cuMemHostAlloc(&memory, 4096, 0));
  expect_code("frees", cuMemFreeHost(memory), CUDA_SUCCESS);
  expect_code("nothing is known of it", cuMemHostGetFlags(&flags, memory),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("twice", cuMemFreeHost(memory), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuMemAllocHost(&memory, 16));
  expect_code("of cuMemAllocHost", cuMemFreeHost(memory), CUDA_SUCCESS);
  REQUIRE(cuMemAllocHost(&memory, 16));
  std::thread([&] {
    expect_code("by a thread without a context", cuMemFreeHost(memory), CUDA_SUCCESS);
  }).join();
  expect_code("null", cuMemFreeHost(nullptr), CUDA_SUCCESS);
}

CONFORM(cuMemFreeHost, waits_for_work) {
  void* memory = nullptr;
  CUstream stream = nullptr;
  static volatile bool over = false;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuMemHostAlloc(&memory, 4096, 0));
  REQUIRE(cuLaunchHostFunc(
      stream,
      [](void*) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        over = true;
      },
      nullptr));
  REQUIRE(launch(common_kernel("store"), 1, 1, stream, memory, 1u));
  expect_code("frees", cuMemFreeHost(memory), CUDA_SUCCESS);
  expect_true("work is over", over);
  expect_code("without a failure", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
}

CONFORM(cuMemFreeHost, wrong_addresses) {
  void* memory = nullptr;
  CUdeviceptr device = 0, managed = 0;
  REQUIRE(cuMemHostAlloc(&memory, 4096, 0));
  REQUIRE(cuMemAlloc(&device, 64));
  REQUIRE(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  expect_code("inside a block", cuMemFreeHost(static_cast<char*>(memory) + 64),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("device memory", cuMemFreeHost(reinterpret_cast<void*>(device)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("managed memory", cuMemFreeHost(reinterpret_cast<void*>(managed)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("host memory", cuMemFreeHost(foreign_memory()), CUDA_ERROR_INVALID_VALUE);
  static char registered[8192];
  REQUIRE(cuMemHostRegister(registered, sizeof registered, 0));
  expect_code("registered memory", cuMemFreeHost(registered), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemFreeHost, null_without_a_context, initialised) {
  expect_code("null", cuMemFreeHost(nullptr), CUDA_SUCCESS);
  expect_code("another", cuMemFreeHost(foreign_memory()), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemFreeHost, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemFreeHost(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
