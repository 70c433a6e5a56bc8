#include <algorithm>

#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyDtoD, moves_the_bytes_and_no_others) {
  Buffer source(16);
  write_list<uint32_t>(source, {11, 22, 33, 44});
  Buffer target(16);
  write_list<uint32_t>(target, {1, 2, 3, 4});
  expect_code("two words", cuMemcpyDtoD(target.at(4), source.at(4), 8), CUDA_SUCCESS);
  expect("target", listed(read_list<uint32_t>(target, 4)), "1 22 33 4");
}

CONFORM(cuMemcpyDtoD, any_size_and_alignment) {
  std::vector<uint8_t> bytes(100003), zeros(100003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  Buffer source(100003);
  write_list(source, bytes);
  Buffer target(100003);
  write_list(target, zeros);
  expect_code("99,999 bytes from 3 to 1", cuMemcpyDtoD(target.at(1), source.at(3), 99999),
              CUDA_SUCCESS);
  std::vector<uint8_t> got = read_list<uint8_t>(target, 100003);
  expect_true("the bytes", std::equal(got.begin() + 1, got.begin() + 100000, bytes.begin() + 3));
  expect("byte before", int{got[0]}, 0);
  expect("byte behind", int{got[100000]}, 0);
}

CONFORM(cuMemcpyDtoD, managed_and_pinned_memory_are_device_sides) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint32_t> pinned(1);
  pinned[0] = 9;
  expect_code("pinned to managed", cuMemcpyDtoD(managed, pinned.address(), 4), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("value", *reinterpret_cast<volatile uint32_t*>(managed), 9u);
}

CONFORM(cuMemcpyDtoD, ranges_that_cannot_be) {
  constexpr size_t all = 2 << 20;
  Buffer memory(all), other(all);
  expect_code("one byte beyond", cuMemcpyDtoD(memory, other, all + 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("wild target", cuMemcpyDtoD(0x123456789000, other, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("target freed", cuMemcpyDtoD(freed_address(), other, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("null target", cuMemcpyDtoD(0, other, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("wild source", cuMemcpyDtoD(memory, 0x123456789000, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("source freed", cuMemcpyDtoD(memory, freed_address(), 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("null source", cuMemcpyDtoD(memory, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("all addresses", cuMemcpyDtoD(memory, other, ~size_t{0}), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes from nowhere", cuMemcpyDtoD(0, 0, 0), CUDA_SUCCESS);
}

CONFORM(cuMemcpyDtoD, plain_host_memory_is_no_device_side) {
  Buffer memory(16);
  static uint32_t plain[4];
  auto host = reinterpret_cast<CUdeviceptr>(plain);
  expect_code("as target", cuMemcpyDtoD(host, memory, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("as source", cuMemcpyDtoD(memory, host, 4), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemcpyDtoD, needs_a_context, initialised) {
  expect_code("no context", cuMemcpyDtoD(4096, 4096, 4), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuMemcpyDtoD, a_new_thread_has_no_context) {
  expect_code("elsewhere", on_a_bare_thread([&] { return cuMemcpyDtoD(4096, 4096, 4); }),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyDtoD, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemcpyDtoD(4096, 4096, 4), CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyDtoD, abi_of_32_bit_addresses_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUdeviceptr_v1, CUdeviceptr_v1, unsigned)>(
      driver_symbol("cuMemcpyDtoD"));
  expect_code("old ABI", old(0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
