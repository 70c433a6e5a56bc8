#include <algorithm>

#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyDtoDAsync, moves_the_bytes_and_no_others) {
  Buffer source(16);
  write_list<uint32_t>(source, {11, 22, 33, 44});
  Buffer target(16);
  write_list<uint32_t>(target, {1, 2, 3, 4});
  expect_code("two words", cuMemcpyDtoDAsync(target.at(4), source.at(4), 8, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("target", listed(read_list<uint32_t>(target, 4)), "1 22 33 4");
}

CONFORM(cuMemcpyDtoDAsync, any_size_and_alignment) {
  std::vector<uint8_t> bytes(100003), zeros(100003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  Buffer source(100003);
  write_list(source, bytes);
  Buffer target(100003);
  write_list(target, zeros);
  expect_code("99,999 bytes from 3 to 1",
              cuMemcpyDtoDAsync(target.at(1), source.at(3), 99999, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  std::vector<uint8_t> got = read_list<uint8_t>(target, 100003);
  expect_true("the bytes", std::equal(got.begin() + 1, got.begin() + 100000, bytes.begin() + 3));
  expect("byte before", int{got[0]}, 0);
  expect("byte behind", int{got[100000]}, 0);
}

CONFORM(cuMemcpyDtoDAsync, managed_and_pinned_memory_are_device_sides) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint32_t> pinned(1);
  pinned[0] = 9;
  expect_code("pinned to managed", cuMemcpyDtoDAsync(managed, pinned.address(), 4, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("value", *reinterpret_cast<volatile uint32_t*>(managed), 9u);
}

CONFORM(cuMemcpyDtoDAsync, ranges_that_cannot_be) {
  constexpr size_t all = 2 << 20;
  Buffer memory(all), other(all);
  expect_code("one byte beyond", cuMemcpyDtoDAsync(memory, other, all + 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("wild target", cuMemcpyDtoDAsync(0x123456789000, other, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("target freed", cuMemcpyDtoDAsync(freed_address(), other, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null target", cuMemcpyDtoDAsync(0, other, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("wild source", cuMemcpyDtoDAsync(memory, 0x123456789000, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("source freed", cuMemcpyDtoDAsync(memory, freed_address(), 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null source", cuMemcpyDtoDAsync(memory, 0, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("all addresses", cuMemcpyDtoDAsync(memory, other, ~size_t{0}, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes from nowhere", cuMemcpyDtoDAsync(0, 0, 0, nullptr), CUDA_SUCCESS);
}

CONFORM(cuMemcpyDtoDAsync, plain_host_memory_is_no_device_side) {
  Buffer memory(16);
  static uint32_t plain[4];
  auto host = reinterpret_cast<CUdeviceptr>(plain);
  expect_code("as target", cuMemcpyDtoDAsync(host, memory, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("as source", cuMemcpyDtoDAsync(memory, host, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemcpyDtoDAsync, waits_for_the_stream) {
  Buffer source(4);
  write<uint32_t>(source, 6);
  Buffer target(4);
  write<uint32_t>(target, 1);
  HeldStream stream;
  expect_code("queued", cuMemcpyDtoDAsync(target, source, 4, stream), CUDA_SUCCESS);
  expect("not before its turn", read<uint32_t>(target), 1u);
  write<uint32_t>(source, 7);
  stream.open();
  expect("reads what is there in its turn", read<uint32_t>(target), 7u);
}

CONFORM(cuMemcpyDtoDAsync, streams_that_are_none) {
  Buffer one(16), two(16);
  expect_code("destroyed", cuMemcpyDtoDAsync(one, two, 4, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemcpyDtoDAsync(one, two, 4, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("before the size", cuMemcpyDtoDAsync(one, two, 0, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMemcpyDtoDAsync, needs_a_context, initialised) {
  expect_code("no context", cuMemcpyDtoDAsync(4096, 4096, 4, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuMemcpyDtoDAsync, a_new_thread_has_no_context) {
  expect_code("elsewhere",
              on_a_bare_thread([&] { return cuMemcpyDtoDAsync(4096, 4096, 4, nullptr); }),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyDtoDAsync, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemcpyDtoDAsync(4096, 4096, 4, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyDtoDAsync, abi_of_32_bit_addresses_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUdeviceptr_v1, CUdeviceptr_v1, unsigned, CUstream)>(
      driver_symbol("cuMemcpyDtoDAsync"));
  expect_code("old ABI", old(0, 0, 0, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
