#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemAllocHost, memory_of_both_sides) {
  void* host = nullptr;
  expect_code("allocates", cuMemAllocHost(&host, 4096), CUDA_SUCCESS);
  auto* words = static_cast<volatile uint32_t*>(host);
  words[0] = 5;
  words[1023] = 6;
  REQUIRE(
      launch(common_kernel("store"), 1, 1, nullptr, reinterpret_cast<CUdeviceptr>(host) + 4, 7u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("the host's value", words[0], 5u);
  expect("a kernel's value", words[1], 7u);
  expect("the host's last", words[1023], 6u);
}

CONFORM(cuMemAllocHost, sizes) {
  void* host = foreign_memory();
  expect_code("no bytes", cuMemAllocHost(&host, 0), CUDA_SUCCESS);
  expect_true("no memory", host == nullptr);
  expect_code("no result", cuMemAllocHost(nullptr, 64), CUDA_ERROR_INVALID_VALUE);
  expect_code("more than there is", cuMemAllocHost(&host, size_t{1} << 50),
              CUDA_ERROR_OUT_OF_MEMORY);
}

CONFORM_WITH(cuMemAllocHost, needs_a_context, initialised) {
  void* host = nullptr;
  expect_code("no context", cuMemAllocHost(&host, 64), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
