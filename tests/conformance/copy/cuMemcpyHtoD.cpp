#include <algorithm>

#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyHtoD, moves_the_bytes_and_no_others) {
  std::vector<uint32_t> source = {11, 22, 33, 44};
  Buffer target(16);
  write_list<uint32_t>(target, {1, 2, 3, 4});
  expect_code("two words", cuMemcpyHtoD(target.at(4), &source[1], 8), CUDA_SUCCESS);
  expect("target", listed(read_list<uint32_t>(target, 4)), "1 22 33 4");
}

CONFORM(cuMemcpyHtoD, any_size_and_alignment) {
  std::vector<uint8_t> bytes(100003), zeros(100003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  Buffer target(100003);
  write_list(target, zeros);
  expect_code("99,999 bytes from 3 to 1", cuMemcpyHtoD(target.at(1), &bytes[3], 99999),
              CUDA_SUCCESS);
  std::vector<uint8_t> got = read_list<uint8_t>(target, 100003);
  expect_true("the bytes", std::equal(got.begin() + 1, got.begin() + 100000, bytes.begin() + 3));
  expect("byte before", int{got[0]}, 0);
  expect("byte behind", int{got[100000]}, 0);
}

CONFORM(cuMemcpyHtoD, host_side_may_be_any_memory) {
  Buffer one(4), two(4);
  write<uint32_t>(one, 77);
  expect_code("device memory", cuMemcpyHtoD(two, reinterpret_cast<const void*>(one.at()), 4),
              CUDA_SUCCESS);
  expect("its value", read<uint32_t>(two), 77u);
  Pinned<uint32_t> pinned(1);
  pinned[0] = 78;
  expect_code("pinned memory", cuMemcpyHtoD(two, pinned.data(), 4), CUDA_SUCCESS);
  expect("the pinned value", read<uint32_t>(two), 78u);
}

CONFORM(cuMemcpyHtoD, managed_and_pinned_memory_are_device_sides) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint32_t> pinned(1);
  uint32_t value = 9;
  expect_code("managed", cuMemcpyHtoD(managed, &value, 4), CUDA_SUCCESS);
  expect_code("pinned", cuMemcpyHtoD(pinned.address(), &value, 4), CUDA_SUCCESS);
  expect("managed value", *reinterpret_cast<volatile uint32_t*>(managed), 9u);
  expect("pinned value", uint32_t{pinned[0]}, 9u);
}

CONFORM(cuMemcpyHtoD, ranges_that_cannot_be) {
  constexpr size_t all = 2 << 20;
  Buffer memory(all), other(all);
  std::vector<uint8_t> host(all + 1);
  expect_code("one byte beyond", cuMemcpyHtoD(memory, host.data(), all + 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("wild target", cuMemcpyHtoD(0x123456789000, host.data(), 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("target freed", cuMemcpyHtoD(freed_address(), host.data(), 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null target", cuMemcpyHtoD(0, host.data(), 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("null source", cuMemcpyHtoD(memory, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("all addresses", cuMemcpyHtoD(memory, host.data(), ~size_t{0}),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes from nowhere", cuMemcpyHtoD(0, nullptr, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuMemcpyHtoD, needs_a_context, initialised) {
  uint32_t word = 0;
  expect_code("no context", cuMemcpyHtoD(4096, &word, 4), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuMemcpyHtoD, a_new_thread_has_no_context) {
  uint32_t word = 0;
  expect_code("elsewhere", on_a_bare_thread([&] { return cuMemcpyHtoD(4096, &word, 4); }),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyHtoD, needs_cuInit, nothing) {
  uint32_t word = 0;
  expect_code("not initialised", cuMemcpyHtoD(4096, &word, 4), CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyHtoD, abi_of_32_bit_addresses_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUdeviceptr_v1, const void*, unsigned)>(
      driver_symbol("cuMemcpyHtoD"));
  expect_code("old ABI", old(0, nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
