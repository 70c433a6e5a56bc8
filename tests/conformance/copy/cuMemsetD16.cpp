#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemsetD16, fills_what_it_is_told_and_no_more) {
  Buffer memory(16);
  write_list<uint16_t>(memory, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_code("three", cuMemsetD16(memory.at(2), 0xabcd, 3), CUDA_SUCCESS);
  expect("elements", listed(read_list<uint16_t>(memory, 8)), "1 43981 43981 43981 5 6 7 8");
}

CONFORM(cuMemsetD16, large_memory) {
  Buffer memory(300000 * 2);
  write<uint16_t>(memory.at(299999 * 2), 7);
  expect_code("all but the last", cuMemsetD16(memory, 0xabcd, 299999), CUDA_SUCCESS);
  auto got = read_list<uint16_t>(memory, 300000);
  size_t set = 0;
  for (uint16_t element : got) set += element == 0xabcd;
  expect("set", set, 299999u);
  expect("the last", int{got.back()}, 7);
}

CONFORM(cuMemsetD16, nothing_to_fill) {
  Buffer memory(16);
  write<uint32_t>(memory, 5);
  expect_code("no elements", cuMemsetD16(memory, 0xabcd, 0), CUDA_SUCCESS);
  expect_code("none, nowhere", cuMemsetD16(0, 0xabcd, 0), CUDA_SUCCESS);
  expect("kept", read<uint32_t>(memory), 5u);
}

CONFORM(cuMemsetD16, memory_that_the_host_sees) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint16_t> pinned(4);
  expect_code("managed", cuMemsetD16(managed, 0xabcd, 4), CUDA_SUCCESS);
  expect_code("pinned", cuMemsetD16(pinned.address(), 0xabcd, 3), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("managed element", uint16_t{reinterpret_cast<volatile uint16_t*>(managed)[3]},
         uint16_t{0xabcd});
  expect("pinned element", uint16_t{pinned[2]}, uint16_t{0xabcd});
  expect("pinned, behind", uint16_t{pinned[3]}, uint16_t{0});
}

CONFORM(cuMemsetD16, ranges_that_cannot_be) {
  Buffer memory(2 << 20);
  static uint32_t plain[4];
  const auto host = reinterpret_cast<CUdeviceptr>(plain);
  expect_code("one beyond", cuMemsetD16(memory, 0xabcd, 1048577), CUDA_ERROR_INVALID_VALUE);
  expect_code("null", cuMemsetD16(0, 0xabcd, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("wild", cuMemsetD16(0x123456789000, 0xabcd, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("freed", cuMemsetD16(freed_address(), 0xabcd, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("plain host memory", cuMemsetD16(host, 0xabcd, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("more than all addresses", cuMemsetD16(memory, 0xabcd, ~size_t{0} / 2), CUDA_SUCCESS);
}

CONFORM(cuMemsetD16, alignment) {
  Buffer memory(64);
  expect_code("odd address", cuMemsetD16(memory.at(1), 0xabcd, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("aligned", cuMemsetD16(memory.at(2), 0xabcd, 1), CUDA_SUCCESS);
}

CONFORM_WITH(cuMemsetD16, needs_a_context, initialised) {
  expect_code("no context", cuMemsetD16(4096, 0xabcd, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemsetD16, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemsetD16(4096, 0xabcd, 1), CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemsetD16, abi_of_32_bit_addresses_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUdeviceptr_v1, unsigned short, unsigned)>(
      driver_symbol("cuMemsetD16"));
  expect_code("old ABI", old(0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
