#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemsetD8, fills_what_it_is_told_and_no_more) {
  Buffer memory(8);
  write_list<uint8_t>(memory, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_code("three", cuMemsetD8(memory.at(1), 0xab, 3), CUDA_SUCCESS);
  expect("elements", listed(read_list<uint8_t>(memory, 8)), "1 171 171 171 5 6 7 8");
}

CONFORM(cuMemsetD8, large_memory) {
  Buffer memory(300000 * 1);
  write<uint8_t>(memory.at(299999 * 1), 7);
  expect_code("all but the last", cuMemsetD8(memory, 0xab, 299999), CUDA_SUCCESS);
  auto got = read_list<uint8_t>(memory, 300000);
  size_t set = 0;
  for (uint8_t element : got) set += element == 0xab;
  expect("set", set, 299999u);
  expect("the last", int{got.back()}, 7);
}

CONFORM(cuMemsetD8, nothing_to_fill) {
  Buffer memory(16);
  write<uint32_t>(memory, 5);
  expect_code("no elements", cuMemsetD8(memory, 0xab, 0), CUDA_SUCCESS);
  expect_code("none, nowhere", cuMemsetD8(0, 0xab, 0), CUDA_SUCCESS);
  expect("kept", read<uint32_t>(memory), 5u);
}

CONFORM(cuMemsetD8, memory_that_the_host_sees) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint8_t> pinned(4);
  expect_code("managed", cuMemsetD8(managed, 0xab, 4), CUDA_SUCCESS);
  expect_code("pinned", cuMemsetD8(pinned.address(), 0xab, 3), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("managed element", uint8_t{reinterpret_cast<volatile uint8_t*>(managed)[3]},
         uint8_t{0xab});
  expect("pinned element", uint8_t{pinned[2]}, uint8_t{0xab});
  expect("pinned, behind", uint8_t{pinned[3]}, uint8_t{0});
}

CONFORM(cuMemsetD8, ranges_that_cannot_be) {
  Buffer memory(2 << 20);
  static uint32_t plain[4];
  const auto host = reinterpret_cast<CUdeviceptr>(plain);
  expect_code("one beyond", cuMemsetD8(memory, 0xab, 2097153), CUDA_ERROR_INVALID_VALUE);
  expect_code("null", cuMemsetD8(0, 0xab, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("wild", cuMemsetD8(0x123456789000, 0xab, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("freed", cuMemsetD8(freed_address(), 0xab, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("plain host memory", cuMemsetD8(host, 0xab, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("more than all addresses", cuMemsetD8(memory, 0xab, ~size_t{0} / 2),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemsetD8, needs_a_context, initialised) {
  expect_code("no context", cuMemsetD8(4096, 0xab, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemsetD8, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemsetD8(4096, 0xab, 1), CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemsetD8, abi_of_32_bit_addresses_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUdeviceptr_v1, unsigned char, unsigned)>(
      driver_symbol("cuMemsetD8"));
  expect_code("old ABI", old(0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
