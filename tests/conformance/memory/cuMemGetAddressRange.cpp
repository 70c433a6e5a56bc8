#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemGetAddressRange, of_device_memory) {
  CUdeviceptr address = 0, base = 0;
  size_t bytes = 0;
  REQUIRE(cuMemAlloc(&address, 1000));
  expect_code("at its start", cuMemGetAddressRange(&base, &bytes, address), CUDA_SUCCESS);
  expect_true("its start", base == address);
  expect("its size", bytes, 1000u);
  base = 0;
  expect_code("inside", cuMemGetAddressRange(&base, &bytes, address + 999), CUDA_SUCCESS);
  expect_true("its start again", base == address);
  bytes = 0;
  expect_code("only the size", cuMemGetAddressRange(nullptr, &bytes, address + 10), CUDA_SUCCESS);
  expect("the size", bytes, 1000u);
  base = 0;
  expect_code("only the start", cuMemGetAddressRange(&base, nullptr, address + 10), CUDA_SUCCESS);
  expect_true("the start", base == address);
  expect_code("behind it", cuMemGetAddressRange(&base, &bytes, address + (64 << 20)),
              CUDA_ERROR_NOT_FOUND);
  REQUIRE(cuMemFree(address));
  expect_code("freed", cuMemGetAddressRange(&base, &bytes, address), CUDA_ERROR_NOT_FOUND);
}

CONFORM(cuMemGetAddressRange, of_other_memory) {
  void* pinned = nullptr;
  CUdeviceptr managed = 0, base = 0;
  size_t bytes = 0;
  REQUIRE(cuMemHostAlloc(&pinned, 5000, 0));
  REQUIRE(cuMemAllocManaged(&managed, 5000, CU_MEM_ATTACH_GLOBAL));
  expect_code("managed", cuMemGetAddressRange(&base, &bytes, managed + 17), CUDA_SUCCESS);
  expect_true("managed start", base == managed);
  expect("managed size", bytes, 5000u);
  expect_code("pinned",
              cuMemGetAddressRange(&base, &bytes, reinterpret_cast<CUdeviceptr>(pinned) + 17),
              CUDA_SUCCESS);
  expect_true("pinned start", base == reinterpret_cast<CUdeviceptr>(pinned));
  expect("pinned size", bytes, 5000u);
  expect_code("host memory",
              cuMemGetAddressRange(&base, &bytes, reinterpret_cast<CUdeviceptr>(foreign_memory())),
              CUDA_ERROR_NOT_FOUND);
  expect_code("null", cuMemGetAddressRange(&base, &bytes, 0), CUDA_ERROR_NOT_FOUND);
  expect_code("nothing asked", cuMemGetAddressRange(nullptr, nullptr, 0), CUDA_SUCCESS);
  auto first = reinterpret_cast<CUresult (*)(unsigned*, unsigned*, unsigned)>(
      driver_symbol("cuMemGetAddressRange"));
  unsigned a = 0, n = 0;
  expect_code("the 32-bit ABI", first(&a, &n, 4096), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemGetAddressRange, needs_a_context, initialised) {
  CUdeviceptr base;
  size_t bytes;
  expect_code("no context", cuMemGetAddressRange(&base, &bytes, 4096), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemGetAddressRange, needs_cuInit, nothing) {
  CUdeviceptr base;
  size_t bytes;
  expect_code("not initialised", cuMemGetAddressRange(&base, &bytes, 4096),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
