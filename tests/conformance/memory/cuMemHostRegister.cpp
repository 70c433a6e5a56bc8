#include "conformance/conform.h"

#include <thread>

namespace limen::conform {

namespace {

alignas(4096) char memory[4 * 4096];

}  // namespace

CONFORM(cuMemHostRegister, kernels_use_the_memory) {
  expect_code("registers", cuMemHostRegister(memory, sizeof memory, CU_MEMHOSTREGISTER_DEVICEMAP),
              CUDA_SUCCESS);
  CUdeviceptr address = 0;
  REQUIRE(cuMemHostGetDevicePointer(&address, memory, 0));
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address + 4096, 23u));
  REQUIRE(cuCtxSynchronize(nullptr));
  uint32_t value = 0;
  std::memcpy(&value, memory + 4096, 4);
  expect("stored", value, 23u);
  unsigned type = 0;
  REQUIRE(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  expect("pinned for CUDA", type, unsigned(CU_MEMORYTYPE_HOST));
}

CONFORM(cuMemHostRegister, every_flag) {
  constexpr unsigned flags[] = {0, CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_DEVICEMAP,
                                CU_MEMHOSTREGISTER_READ_ONLY,
                                CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP};
  for (unsigned one : flags) {
    expect_code("flags " + std::to_string(one), cuMemHostRegister(memory, 4096, one), CUDA_SUCCESS);
    REQUIRE(cuMemHostUnregister(memory));
  }
}

CONFORM(cuMemHostRegister, overlaps) {
  expect_code("two pages", cuMemHostRegister(memory + 4096, 8192, 0), CUDA_SUCCESS);
  expect_code("the same", cuMemHostRegister(memory + 4096, 8192, 0),
              CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  expect_code("a part", cuMemHostRegister(memory + 8192, 4096, 0),
              CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  expect_code("one page before and one of it", cuMemHostRegister(memory, 8192, 0),
              CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  expect_code("all around it", cuMemHostRegister(memory, 4 * 4096, 0),
              CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  expect_code("the page before", cuMemHostRegister(memory, 4096, 0), CUDA_SUCCESS);
  expect_code("the page behind", cuMemHostRegister(memory + 3 * 4096, 4096, 0), CUDA_SUCCESS);
}

CONFORM(cuMemHostRegister, odd_addresses_and_sizes) {
  expect_code("not on a page's start", cuMemHostRegister(memory + 100, 50, 0), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  expect_code("its address", cuMemHostGetDevicePointer(&address, memory + 120, 0), CUDA_SUCCESS);
  expect_true("the same", address == reinterpret_cast<CUdeviceptr>(memory + 120));
}

CONFORM(cuMemHostRegister, wrong_arguments) {
  expect_code("no address", cuMemHostRegister(nullptr, 4096, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemHostRegister(memory, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuMemHostRegister(memory, 4096, 0x10), CUDA_ERROR_INVALID_VALUE);
  expect_code("all flags", cuMemHostRegister(memory, 4096, ~0u), CUDA_ERROR_INVALID_VALUE);
  expect_code("around the end of all addresses", cuMemHostRegister(memory, ~size_t{0}, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("memory that is not there", cuMemHostRegister(reinterpret_cast<void*>(4096), 4096, 0),
              CUDA_ERROR_INVALID_VALUE);
  void* pinned = nullptr;
  CUdeviceptr device = 0;
  REQUIRE(cuMemHostAlloc(&pinned, 4096, 0));
  REQUIRE(cuMemAlloc(&device, 4096));
  expect_code("pinned memory", cuMemHostRegister(pinned, 4096, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("device memory", cuMemHostRegister(reinterpret_cast<void*>(device), 4096, 0),
              CUDA_ERROR_INVALID_VALUE);
  auto first =
      reinterpret_cast<CUresult (*)(void*, size_t, unsigned)>(driver_symbol("cuMemHostRegister"));
  expect_code("first ABI", first(memory, 4096, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuMemHostRegister, needs_a_context, initialised) {
  expect_code("no context", cuMemHostRegister(memory, 4096, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemHostRegister, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemHostRegister(memory, 4096, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
