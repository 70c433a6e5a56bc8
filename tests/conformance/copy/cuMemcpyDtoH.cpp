#include <algorithm>

#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyDtoH, moves_the_bytes_and_no_others) {
  Buffer source(16);
  write_list<uint32_t>(source, {11, 22, 33, 44});
  std::vector<uint32_t> target = {1, 2, 3, 4};
  expect_code("two words", cuMemcpyDtoH(&target[1], source.at(4), 8), CUDA_SUCCESS);
  expect("target", listed(target), "1 22 33 4");
}

CONFORM(cuMemcpyDtoH, any_size_and_alignment) {
  std::vector<uint8_t> bytes(100003), zeros(100003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  Buffer source(100003);
  write_list(source, bytes);
  std::vector<uint8_t> target(100003);
  expect_code("99,999 bytes from 3 to 1", cuMemcpyDtoH(&target[1], source.at(3), 99999),
              CUDA_SUCCESS);
  expect_true("the bytes",
              std::equal(target.begin() + 1, target.begin() + 100000, bytes.begin() + 3));
  expect("byte before", int{target[0]}, 0);
  expect("byte behind", int{target[100000]}, 0);
}

CONFORM(cuMemcpyDtoH, host_side_may_be_any_memory) {
  Buffer one(4), two(4);
  write<uint32_t>(one, 77);
  write<uint32_t>(two, 1);
  expect_code("device memory", cuMemcpyDtoH(reinterpret_cast<void*>(two.at()), one, 4),
              CUDA_SUCCESS);
  expect("its value", read<uint32_t>(two), 77u);
  Pinned<uint32_t> pinned(1);
  expect_code("pinned memory", cuMemcpyDtoH(pinned.data(), one, 4), CUDA_SUCCESS);
  expect("the pinned value", uint32_t{pinned[0]}, 77u);
}

CONFORM(cuMemcpyDtoH, managed_and_pinned_memory_are_device_sides) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint32_t> pinned(1);
  uint32_t one = 0, two = 0;
  *reinterpret_cast<volatile uint32_t*>(managed) = 8;
  pinned[0] = 9;
  expect_code("managed", cuMemcpyDtoH(&one, managed, 4), CUDA_SUCCESS);
  expect_code("pinned", cuMemcpyDtoH(&two, pinned.address(), 4), CUDA_SUCCESS);
  expect("managed value", one, 8u);
  expect("pinned value", two, 9u);
}

CONFORM(cuMemcpyDtoH, ranges_that_cannot_be) {
  constexpr size_t all = 2 << 20;
  Buffer memory(all), other(all);
  std::vector<uint8_t> host(all + 1);
  expect_code("one byte beyond", cuMemcpyDtoH(host.data(), other, all + 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("wild source", cuMemcpyDtoH(host.data(), 0x123456789000, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("source freed", cuMemcpyDtoH(host.data(), freed_address(), 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null source", cuMemcpyDtoH(host.data(), 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("null target", cuMemcpyDtoH(nullptr, other, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("all addresses", cuMemcpyDtoH(host.data(), other, ~size_t{0}),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes from nowhere", cuMemcpyDtoH(nullptr, 0, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuMemcpyDtoH, needs_a_context, initialised) {
  uint32_t word = 0;
  expect_code("no context", cuMemcpyDtoH(&word, 4096, 4), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuMemcpyDtoH, a_new_thread_has_no_context) {
  uint32_t word = 0;
  expect_code("elsewhere", on_a_bare_thread([&] { return cuMemcpyDtoH(&word, 4096, 4); }),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyDtoH, needs_cuInit, nothing) {
  uint32_t word = 0;
  expect_code("not initialised", cuMemcpyDtoH(&word, 4096, 4), CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyDtoH, abi_of_32_bit_addresses_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(void*, CUdeviceptr_v1, unsigned)>(
      driver_symbol("cuMemcpyDtoH"));
  expect_code("old ABI", old(nullptr, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
