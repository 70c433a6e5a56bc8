#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemFree, takes_the_memory) {
  CUdeviceptr address = 0;
  REQUIRE(cuMemAlloc(&address, 1 << 20));
  expect_code("frees", cuMemFree(address), CUDA_SUCCESS);
  uint32_t value = 0;
  expect_code("gone", cuMemcpyDtoH(&value, address, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("not twice", cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemFree, waits_for_kernels) {
  CUdeviceptr address = 0;
  REQUIRE(cuMemAlloc(&address, 1 << 20));
  CUfunction add = common_kernel("add");
  for (int i = 0; i < 64; ++i) REQUIRE(launch(add, 64, 256, nullptr, address, 1u));
  expect_code("frees", cuMemFree(address), CUDA_SUCCESS);
  expect_code("no kernel faulted", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
}

CONFORM(cuMemFree, a_kernel_that_uses_it_later_faults) {
  CUdeviceptr address = 0;
  REQUIRE(cuMemAlloc(&address, size_t{64} << 20));
  expect_code("frees", cuMemFree(address), CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address, 1u));
  expect_code("illegal address", cuCtxSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
}

CONFORM(cuMemFree, what_is_no_allocation) {
  expect_code("null", cuMemFree(0), CUDA_SUCCESS);
  Buffer buffer(4096);
  expect_code("from the middle", cuMemFree(buffer.at(256)), CUDA_ERROR_INVALID_VALUE);
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 64));
  expect_code("pinned memory", cuMemFree(reinterpret_cast<CUdeviceptr>(host)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("foreign memory", cuMemFree(reinterpret_cast<CUdeviceptr>(foreign_memory())),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
