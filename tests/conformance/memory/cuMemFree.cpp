#include "conformance/conform.h"
#include "conformance/gate.h"

#include <chrono>
#include <thread>

namespace limen::conform {

CONFORM(cuMemFree, memory_is_gone) {
  CUdeviceptr address = 0;
  unsigned type = 0;
  REQUIRE(cuMemAlloc(&address, 4096));
  expect_code("frees", cuMemFree(address), CUDA_SUCCESS);
  expect_code("nothing is known of it",
              cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("copying to it", cuMemcpyHtoD(address, &type, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("twice", cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemFree, every_kind_of_device_memory) {
  CUdeviceptr managed = 0, pitched = 0, pooled = 0;
  size_t pitch = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  REQUIRE(cuMemAllocPitch(&pitched, &pitch, 100, 4, 4));
  REQUIRE(cuMemAllocAsync(&pooled, 4096, nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect_code("managed", cuMemFree(managed), CUDA_SUCCESS);
  expect_code("pitched", cuMemFree(pitched), CUDA_SUCCESS);
  expect_code("of a pool", cuMemFree(pooled), CUDA_SUCCESS);
  expect_code("managed twice", cuMemFree(managed), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemFree, waits_for_work) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr address = 0;
  HostWord word;
  REQUIRE(cuMemAlloc(&address, 4096));
  REQUIRE(cuLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }, nullptr));
  REQUIRE(launch(common_kernel("store"), 1, 1, stream, address, 1u));
  REQUIRE(launch(common_kernel("store"), 1, 1, stream, word.at(), 1u));
  expect_code("frees", cuMemFree(address), CUDA_SUCCESS);
  expect("the kernels are over", word.value(), 1u);
  expect_code("without a failure", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
}

CONFORM(cuMemFree, wrong_addresses) {
  CUdeviceptr address = 0;
  void* pinned = nullptr;
  REQUIRE(cuMemAlloc(&address, 4096));
  REQUIRE(cuMemHostAlloc(&pinned, 4096, 0));
  expect_code("null", cuMemFree(0), CUDA_SUCCESS);
  expect_code("inside a block", cuMemFree(address + 256), CUDA_ERROR_INVALID_VALUE);
  expect_code("the last byte", cuMemFree(address + 4095), CUDA_ERROR_INVALID_VALUE);
  expect_code("pinned memory", cuMemFree(reinterpret_cast<CUdeviceptr>(pinned)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("host memory", cuMemFree(reinterpret_cast<CUdeviceptr>(foreign_memory())),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("wild", cuMemFree(0x123456789000), CUDA_ERROR_INVALID_VALUE);
  expect_code("all ones", cuMemFree(~CUdeviceptr{0}), CUDA_ERROR_INVALID_VALUE);
  expect_code("the block itself", cuMemFree(address), CUDA_SUCCESS);
  auto first = reinterpret_cast<CUresult (*)(unsigned)>(driver_symbol("cuMemFree"));
  expect_code("the 32-bit ABI", first(0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuMemFree, from_another_thread_and_context) {
  CUdeviceptr address = 0, other = 0, third = 0;
  CUcontext primary = nullptr, made = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  REQUIRE(cuMemAlloc(&address, 4096));
  REQUIRE(cuMemAlloc(&other, 4096));
  REQUIRE(cuMemAlloc(&third, 4096));
  std::thread([&] {
    expect_code("a thread without a context", cuMemFree(address), CUDA_SUCCESS);
    REQUIRE(cuCtxSetCurrent(primary));
    expect_code("a thread with it", cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    expect_code("another block of it", cuMemFree(third), CUDA_SUCCESS);
  }).join();
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("with another context", cuMemFree(other), CUDA_SUCCESS);
}

CONFORM_WITH(cuMemFree, null_without_a_context, initialised) {
  expect_code("null", cuMemFree(0), CUDA_SUCCESS);
  expect_code("another", cuMemFree(0x123456789000), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemFree, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemFree(0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
