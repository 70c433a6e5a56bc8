#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemHostGetDevicePointer, is_the_same_address) {
  void* pinned = nullptr;
  CUdeviceptr address = 0;
  REQUIRE(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  expect_code("pinned", cuMemHostGetDevicePointer(&address, pinned, 0), CUDA_SUCCESS);
  expect_true("the same", address == reinterpret_cast<CUdeviceptr>(pinned));
  address = 0;
  expect_code("inside", cuMemHostGetDevicePointer(&address, static_cast<char*>(pinned) + 100, 0),
              CUDA_SUCCESS);
  expect_true("inside at the same place", address == reinterpret_cast<CUdeviceptr>(pinned) + 100);
  alignas(4096) static char plain[8192];
  REQUIRE(cuMemHostRegister(plain, sizeof plain, CU_MEMHOSTREGISTER_DEVICEMAP));
  expect_code("registered", cuMemHostGetDevicePointer(&address, plain + 8, 0), CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address, 19u));
  REQUIRE(cuCtxSynchronize(nullptr));
  uint32_t value = 0;
  std::memcpy(&value, plain + 8, 4);
  expect("a kernel's store", value, 19u);
}

CONFORM(cuMemHostGetDevicePointer, wrong_arguments) {
  void* pinned = nullptr;
  CUdeviceptr address = 0, device = 0;
  REQUIRE(cuMemHostAlloc(&pinned, 64, 0));
  REQUIRE(cuMemAlloc(&device, 64));
  expect_code("no result", cuMemHostGetDevicePointer(nullptr, pinned, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no address", cuMemHostGetDevicePointer(&address, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuMemHostGetDevicePointer(&address, pinned, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("host memory", cuMemHostGetDevicePointer(&address, foreign_memory(), 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("device memory",
              cuMemHostGetDevicePointer(&address, reinterpret_cast<void*>(device), 0),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuMemFreeHost(pinned));
  expect_code("freed", cuMemHostGetDevicePointer(&address, pinned, 0), CUDA_ERROR_INVALID_VALUE);
  auto first = reinterpret_cast<CUresult (*)(unsigned*, void*, unsigned)>(
      driver_symbol("cuMemHostGetDevicePointer"));
  unsigned a = 0;
  expect_code("the 32-bit ABI", first(&a, pinned, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemHostGetDevicePointer, needs_a_context, initialised) {
  CUdeviceptr a;
  expect_code("no context", cuMemHostGetDevicePointer(&a, foreign_memory(), 0),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemHostGetDevicePointer, needs_cuInit, nothing) {
  CUdeviceptr a;
  expect_code("not initialised", cuMemHostGetDevicePointer(&a, foreign_memory(), 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
