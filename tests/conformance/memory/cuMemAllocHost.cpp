#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemAllocHost, host_and_device_share_it) {
  void* memory = nullptr;
  expect_code("allocates", cuMemAllocHost(&memory, 4096), CUDA_SUCCESS);
  expect("page aligned", reinterpret_cast<uintptr_t>(memory) % 4096, 0u);
  auto* words = static_cast<volatile uint32_t*>(memory);
  words[1023] = 5;
  CUdeviceptr on_device = 0;
  REQUIRE(cuMemHostGetDevicePointer(&on_device, memory, 0));
  REQUIRE(launch(common_kernel("add"), 1, 4, nullptr, on_device + 4092, 1u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("the kernel added", words[1023], 9u);
  unsigned flags = 0;
  REQUIRE(cuMemHostGetFlags(&flags, memory));
  expect_true("mapped", flags & CU_MEMHOSTALLOC_DEVICEMAP);
}

CONFORM(cuMemAllocHost, wrong_arguments) {
  void* memory = foreign_memory();
  expect_code("no result", cuMemAllocHost(nullptr, 16), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemAllocHost(&memory, 0), CUDA_SUCCESS);
  expect_true("null for no bytes", memory == nullptr);
  expect_code("more than there is", cuMemAllocHost(&memory, size_t{1} << 46),
              CUDA_ERROR_OUT_OF_MEMORY);
  expect_code("all addresses", cuMemAllocHost(&memory, ~size_t{0}), CUDA_ERROR_OUT_OF_MEMORY);
  auto first = reinterpret_cast<CUresult (*)(void**, unsigned)>(driver_symbol("cuMemAllocHost"));
  expect_code("the 32-bit ABI", first(&memory, 16), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemAllocHost, needs_a_context, initialised) {
  void* memory;
  expect_code("no context", cuMemAllocHost(&memory, 16), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemAllocHost, needs_cuInit, nothing) {
  void* memory;
  expect_code("not initialised", cuMemAllocHost(&memory, 16), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
