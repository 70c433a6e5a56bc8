#include "conformance/unified/range.h"

namespace limen::conform {

namespace {

unsigned synchronises(CUdeviceptr pointer) {
  unsigned value = 77;
  REQUIRE(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, pointer));
  return value;
}

CUresult set(CUdeviceptr pointer, unsigned value,
             CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) {
  return cuPointerSetAttribute(&value, attribute, pointer);
}

}  // namespace

CONFORM(cuPointerSetAttribute, is_read_back) {
  Buffer memory(2 << 20), other(2 << 20);
  expect("at first", synchronises(memory), 0u);
  expect_code("set", set(memory, 1), CUDA_SUCCESS);
  expect("after", synchronises(memory), 1u);
  expect("anywhere in the block", synchronises(memory.at(77)), 1u);
  expect("not of another", synchronises(other), 0u);
  expect_code("unset", set(memory, 0), CUDA_SUCCESS);
  expect("in the end", synchronises(memory), 0u);
}

CONFORM(cuPointerSetAttribute, goes_with_the_block) {
  CUdeviceptr first = 0;
  REQUIRE(cuMemAlloc(&first, 2 << 20));
  expect_code("set", set(first, 1), CUDA_SUCCESS);
  REQUIRE(cuMemFree(first));
  Buffer second(2 << 20);
  expect("the next block", synchronises(second), 0u);
}

CONFORM(cuPointerSetAttribute, managed_memory_begins_synchronous) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  expect("at first", synchronises(managed), 1u);
  expect_code("set", set(managed, 1), CUDA_SUCCESS);
  expect("after", synchronises(managed), 1u);
  expect_code("unset", set(managed, 0), CUDA_SUCCESS);
  expect("in the end", synchronises(managed), 0u);
  REQUIRE(cuMemFree(managed));
}

CONFORM(cuPointerSetAttribute, copies_go_on) {
  Buffer memory(16);
  expect_code("set", set(memory, 1), CUDA_SUCCESS);
  write<uint32_t>(memory, 3);
  REQUIRE(cuMemsetD32(memory.at(4), 4, 1));
  expect("words", listed(read_list<uint32_t>(memory, 2)), "3 4");
  expect("still set", synchronises(memory), 1u);
}

CONFORM(cuPointerSetAttribute, arguments_that_cannot_be) {
  Buffer memory(16);
  int plain = 0;
  expect_code("no value", cuPointerSetAttribute(nullptr, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null", set(0, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("plain host memory", set(reinterpret_cast<CUdeviceptr>(&plain), 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("freed", set(freed_address(), 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("an attribute that only answers", set(memory, 1, CU_POINTER_ATTRIBUTE_IS_MANAGED),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("attribute 99", set(memory, 1, CUpointer_attribute(99)), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuPointerSetAttribute, needs_cuInit, nothing) {
  expect_code("not initialised", set(page, 1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
