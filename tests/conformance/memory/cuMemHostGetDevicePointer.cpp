#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemHostGetDevicePointer, kernels_reach_it) {
  void* host = nullptr;
  REQUIRE(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  CUdeviceptr device = 0;
  expect_code("asks", cuMemHostGetDevicePointer(&device, host, 0), CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, device + 8, 4u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("a kernel's value", static_cast<volatile uint32_t*>(host)[2], 4u);
}

CONFORM(cuMemHostGetDevicePointer, wrong_arguments) {
  void* host = nullptr;
  CUdeviceptr device = 0;
  REQUIRE(cuMemAllocHost(&host, 64));
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no result", cuMemHostGetDevicePointer(nullptr, host, 0), bad);
  expect_code("no memory", cuMemHostGetDevicePointer(&device, nullptr, 0), bad);
  expect_code("flags", cuMemHostGetDevicePointer(&device, host, 1), bad);
}

}  // namespace limen::conform
