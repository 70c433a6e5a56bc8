#include <algorithm>

#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyDtoHAsync, moves_the_bytes_and_no_others) {
  Buffer source(16);
  write_list<uint32_t>(source, {11, 22, 33, 44});
  std::vector<uint32_t> target = {1, 2, 3, 4};
  expect_code("two words", cuMemcpyDtoHAsync(&target[1], source.at(4), 8, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("target", listed(target), "1 22 33 4");
}

CONFORM(cuMemcpyDtoHAsync, any_size_and_alignment) {
  std::vector<uint8_t> bytes(100003), zeros(100003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  Buffer source(100003);
  write_list(source, bytes);
  std::vector<uint8_t> target(100003);
  expect_code("99,999 bytes from 3 to 1",
              cuMemcpyDtoHAsync(&target[1], source.at(3), 99999, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect_true("the bytes",
              std::equal(target.begin() + 1, target.begin() + 100000, bytes.begin() + 3));
  expect("byte before", int{target[0]}, 0);
  expect("byte behind", int{target[100000]}, 0);
}

CONFORM(cuMemcpyDtoHAsync, host_side_may_be_any_memory) {
  Buffer one(4), two(4);
  write<uint32_t>(one, 77);
  write<uint32_t>(two, 1);
  expect_code("device memory",
              cuMemcpyDtoHAsync(reinterpret_cast<void*>(two.at()), one, 4, nullptr), CUDA_SUCCESS);
  expect("its value", read<uint32_t>(two), 77u);
  Pinned<uint32_t> pinned(1);
  expect_code("pinned memory", cuMemcpyDtoHAsync(pinned.data(), one, 4, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("the pinned value", uint32_t{pinned[0]}, 77u);
}

CONFORM(cuMemcpyDtoHAsync, managed_and_pinned_memory_are_device_sides) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint32_t> pinned(1);
  uint32_t one = 0, two = 0;
  *reinterpret_cast<volatile uint32_t*>(managed) = 8;
  pinned[0] = 9;
  expect_code("managed", cuMemcpyDtoHAsync(&one, managed, 4, nullptr), CUDA_SUCCESS);
  expect_code("pinned", cuMemcpyDtoHAsync(&two, pinned.address(), 4, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("managed value", one, 8u);
  expect("pinned value", two, 9u);
}

CONFORM(cuMemcpyDtoHAsync, ranges_that_cannot_be) {
  constexpr size_t all = 2 << 20;
  Buffer memory(all), other(all);
  std::vector<uint8_t> host(all + 1);
  expect_code("one byte beyond", cuMemcpyDtoHAsync(host.data(), other, all + 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("wild source", cuMemcpyDtoHAsync(host.data(), 0x123456789000, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("source freed", cuMemcpyDtoHAsync(host.data(), freed_address(), 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null source", cuMemcpyDtoHAsync(host.data(), 0, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null target", cuMemcpyDtoHAsync(nullptr, other, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("all addresses", cuMemcpyDtoHAsync(host.data(), other, ~size_t{0}, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes from nowhere", cuMemcpyDtoHAsync(nullptr, 0, 0, nullptr), CUDA_SUCCESS);
}

CONFORM(cuMemcpyDtoHAsync, waits_for_the_stream) {
  Pinned<uint32_t> target(1);
  Buffer source(4);
  write<uint32_t>(source, 6);
  HeldStream stream;
  expect_code("queued", cuMemcpyDtoHAsync(target.data(), source, 4, stream), CUDA_SUCCESS);
  expect("not before its turn", uint32_t{target[0]}, 0u);
  stream.open();
  expect("in its turn", uint32_t{target[0]}, 6u);
}

CONFORM(cuMemcpyDtoHAsync, streams_that_are_none) {
  Buffer one(16), two(16);
  uint32_t host[4] = {};
  expect_code("destroyed", cuMemcpyDtoHAsync(host, two, 4, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemcpyDtoHAsync(host, two, 4, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("before the size", cuMemcpyDtoHAsync(host, two, 0, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMemcpyDtoHAsync, needs_a_context, initialised) {
  uint32_t word = 0;
  expect_code("no context", cuMemcpyDtoHAsync(&word, 4096, 4, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuMemcpyDtoHAsync, a_new_thread_has_no_context) {
  uint32_t word = 0;
  expect_code("elsewhere",
              on_a_bare_thread([&] { return cuMemcpyDtoHAsync(&word, 4096, 4, nullptr); }),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyDtoHAsync, needs_cuInit, nothing) {
  uint32_t word = 0;
  expect_code("not initialised", cuMemcpyDtoHAsync(&word, 4096, 4, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyDtoHAsync, abi_of_32_bit_addresses_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(void*, CUdeviceptr_v1, unsigned, CUstream)>(
      driver_symbol("cuMemcpyDtoHAsync"));
  expect_code("old ABI", old(nullptr, 0, 0, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
