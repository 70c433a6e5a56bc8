#include "conformance/unified/range.h"

namespace limen::conform {

namespace {

template <typename T>
T attribute_of(CUdeviceptr pointer, CUpointer_attribute attribute) {
  T value{};
  REQUIRE(cuPointerGetAttribute(&value, attribute, pointer));
  return value;
}

/// What holds for every pointer that CUDA made, 16 bytes into a block of `bytes` from `base` on.
void common_attributes(CUdeviceptr base, size_t bytes) {
  const CUdeviceptr pointer = base + 16;
  CUcontext current = nullptr;
  REQUIRE(cuCtxGetCurrent(&current));
  CUcontext context = nullptr;
  expect_code("context", cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, pointer),
              CUDA_SUCCESS);
  expect_true("is the current one", context == current);
  expect("device pointer",
         attribute_of<CUdeviceptr>(pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER) - base, 16u);
  expect("start", attribute_of<CUdeviceptr>(pointer, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR) - base,
         0u);
  expect("size", attribute_of<size_t>(pointer, CU_POINTER_ATTRIBUTE_RANGE_SIZE), bytes);
  expect("mapped", attribute_of<unsigned>(pointer, CU_POINTER_ATTRIBUTE_MAPPED), 1u);
  expect("ordinal", attribute_of<int>(pointer, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL), 0);
}

}  // namespace

CONFORM(cuPointerGetAttribute, device_memory) {
  Buffer memory(2 << 20);
  common_attributes(memory, 2 << 20);
  expect("type", attribute_of<unsigned>(memory, CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
         unsigned{CU_MEMORYTYPE_DEVICE});
  expect("managed", attribute_of<unsigned>(memory, CU_POINTER_ATTRIBUTE_IS_MANAGED), 0u);
  expect("synchronises", attribute_of<unsigned>(memory, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS), 0u);
  expect("pool", attribute_of<CUmemoryPool>(memory, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE), nullptr);
  expect("access", attribute_of<unsigned>(memory, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS),
         unsigned{CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE});
  void* host = foreign_memory();
  expect_code("host pointer",
              cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuPointerGetAttribute, managed_memory) {
  Managed memory(2 << 20);
  common_attributes(memory, 2 << 20);
  expect("type", attribute_of<unsigned>(memory, CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
         unsigned{CU_MEMORYTYPE_DEVICE});
  expect("managed", attribute_of<unsigned>(memory, CU_POINTER_ATTRIBUTE_IS_MANAGED), 1u);
  expect_true("host pointer",
              attribute_of<CUdeviceptr>(memory, CU_POINTER_ATTRIBUTE_HOST_POINTER) == memory);
}

CONFORM(cuPointerGetAttribute, pinned_memory) {
  Pinned<char> memory(2 << 20);
  common_attributes(memory.address(), 2 << 20);
  expect("type", attribute_of<unsigned>(memory.address(), CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
         unsigned{CU_MEMORYTYPE_HOST});
  expect("managed", attribute_of<unsigned>(memory.address(), CU_POINTER_ATTRIBUTE_IS_MANAGED), 0u);
  expect_true("host pointer",
              attribute_of<CUdeviceptr>(memory.address(), CU_POINTER_ATTRIBUTE_HOST_POINTER) ==
                  memory.address());
}

CONFORM(cuPointerGetAttribute, registered_memory) {
  alignas(4096) static char memory[8192];
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  unsigned type = 0;
  expect_code("before", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuMemHostRegister(memory, sizeof memory, CU_MEMHOSTREGISTER_DEVICEMAP));
  expect("type", attribute_of<unsigned>(address, CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
         unsigned{CU_MEMORYTYPE_HOST});
  expect_true("host pointer", attribute_of<CUdeviceptr>(
                                  address + 5, CU_POINTER_ATTRIBUTE_HOST_POINTER) == address + 5);
  expect("managed", attribute_of<unsigned>(address, CU_POINTER_ATTRIBUTE_IS_MANAGED), 0u);
  REQUIRE(cuMemHostUnregister(memory));
  expect_code("after", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuPointerGetAttribute, memory_of_a_pool) {
  CUdeviceptr memory = 0;
  CUmemoryPool pool = nullptr;
  REQUIRE(cuDeviceGetDefaultMemPool(&pool, 0));
  REQUIRE(cuMemAllocAsync(&memory, 4096, nullptr));
  REQUIRE(cuStreamSynchronize(nullptr));
  expect_true("pool",
              attribute_of<CUmemoryPool>(memory, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE) == pool);
  expect("type", attribute_of<unsigned>(memory, CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
         unsigned{CU_MEMORYTYPE_DEVICE});
}

CONFORM(cuPointerGetAttribute, ids_are_never_the_same) {
  Buffer one(16), two(16);
  const auto first = attribute_of<unsigned long long>(one, CU_POINTER_ATTRIBUTE_BUFFER_ID);
  const auto second = attribute_of<unsigned long long>(two, CU_POINTER_ATTRIBUTE_BUFFER_ID);
  expect_true("of two blocks", first != second);
  expect_true("inside one", attribute_of<unsigned long long>(
                                one.at(15), CU_POINTER_ATTRIBUTE_BUFFER_ID) == first);
  CUdeviceptr three = 0, four = 0;
  REQUIRE(cuMemAlloc(&three, 1 << 20));
  const auto third = attribute_of<unsigned long long>(three, CU_POINTER_ATTRIBUTE_BUFFER_ID);
  REQUIRE(cuMemFree(three));
  REQUIRE(cuMemAlloc(&four, 1 << 20));
  expect_true("one after the other",
              attribute_of<unsigned long long>(four, CU_POINTER_ATTRIBUTE_BUFFER_ID) != third);
}

CONFORM(cuPointerGetAttribute, pointers_and_attributes_that_are_none) {
  Buffer memory(16);
  int plain = 0;
  unsigned value = 5;
  const auto type = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  expect_code("nowhere", cuPointerGetAttribute(nullptr, type, memory), CUDA_ERROR_INVALID_VALUE);
  expect_code("null", cuPointerGetAttribute(&value, type, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("plain host memory",
              cuPointerGetAttribute(&value, type, reinterpret_cast<CUdeviceptr>(&plain)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("freed", cuPointerGetAttribute(&value, type, freed_address()),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("attribute 0", cuPointerGetAttribute(&value, CUpointer_attribute(0), memory),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("attribute 99", cuPointerGetAttribute(&value, CUpointer_attribute(99), memory),
              CUDA_ERROR_INVALID_VALUE);
  expect("the place is as it was", value, 5u);
}

CONFORM_WITH(cuPointerGetAttribute, needs_cuInit, nothing) {
  unsigned value = 0;
  expect_code("not initialised",
              cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, page),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
