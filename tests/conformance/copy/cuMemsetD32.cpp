#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemsetD32, fills_what_it_is_told_and_no_more) {
  Buffer memory(32);
  write_list<uint32_t>(memory, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_code("three", cuMemsetD32(memory.at(4), 0xabcdef01, 3), CUDA_SUCCESS);
  expect("elements", listed(read_list<uint32_t>(memory, 8)),
         "1 2882400001 2882400001 2882400001 5 6 7 8");
}

CONFORM(cuMemsetD32, large_memory) {
  Buffer memory(300000 * 4);
  write<uint32_t>(memory.at(299999 * 4), 7);
  expect_code("all but the last", cuMemsetD32(memory, 0xabcdef01, 299999), CUDA_SUCCESS);
  auto got = read_list<uint32_t>(memory, 300000);
  size_t set = 0;
  for (uint32_t element : got) set += element == 0xabcdef01;
  expect("set", set, 299999u);
  expect("the last", got.back(), 7u);
}

CONFORM(cuMemsetD32, nothing_to_fill) {
  Buffer memory(16);
  write<uint32_t>(memory, 5);
  expect_code("no elements", cuMemsetD32(memory, 0xabcdef01, 0), CUDA_SUCCESS);
  expect_code("none, nowhere", cuMemsetD32(0, 0xabcdef01, 0), CUDA_SUCCESS);
  expect("kept", read<uint32_t>(memory), 5u);
}

CONFORM(cuMemsetD32, memory_that_the_host_sees) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint32_t> pinned(4);
  expect_code("managed", cuMemsetD32(managed, 0xabcdef01, 4), CUDA_SUCCESS);
  expect_code("pinned", cuMemsetD32(pinned.address(), 0xabcdef01, 3), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("managed element", uint32_t{reinterpret_cast<volatile uint32_t*>(managed)[3]},
         uint32_t{0xabcdef01});
  expect("pinned element", uint32_t{pinned[2]}, uint32_t{0xabcdef01});
  expect("pinned, behind", uint32_t{pinned[3]}, uint32_t{0});
}

CONFORM(cuMemsetD32, ranges_that_cannot_be) {
  Buffer memory(2 << 20);
  static uint32_t plain[4];
  const auto host = reinterpret_cast<CUdeviceptr>(plain);
  expect_code("one beyond", cuMemsetD32(memory, 0xabcdef01, 524289), CUDA_ERROR_INVALID_VALUE);
  expect_code("null", cuMemsetD32(0, 0xabcdef01, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("wild", cuMemsetD32(0x123456789000, 0xabcdef01, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("freed", cuMemsetD32(freed_address(), 0xabcdef01, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("plain host memory", cuMemsetD32(host, 0xabcdef01, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("more than all addresses", cuMemsetD32(memory, 0xabcdef01, ~size_t{0} / 2),
              CUDA_SUCCESS);
}

CONFORM(cuMemsetD32, alignment) {
  Buffer memory(64);
  expect_code("odd address", cuMemsetD32(memory.at(1), 0xabcdef01, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("half aligned address", cuMemsetD32(memory.at(2), 0xabcdef01, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("aligned", cuMemsetD32(memory.at(4), 0xabcdef01, 1), CUDA_SUCCESS);
}

CONFORM_WITH(cuMemsetD32, needs_a_context, initialised) {
  expect_code("no context", cuMemsetD32(4096, 0xabcdef01, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemsetD32, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemsetD32(4096, 0xabcdef01, 1), CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemsetD32, abi_of_32_bit_addresses_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUdeviceptr_v1, unsigned, unsigned)>(
      driver_symbol("cuMemsetD32"));
  expect_code("old ABI", old(0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
