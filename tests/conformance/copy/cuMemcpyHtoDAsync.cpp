#include <algorithm>

#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyHtoDAsync, moves_the_bytes_and_no_others) {
  std::vector<uint32_t> source = {11, 22, 33, 44};
  Buffer target(16);
  write_list<uint32_t>(target, {1, 2, 3, 4});
  expect_code("two words", cuMemcpyHtoDAsync(target.at(4), &source[1], 8, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("target", listed(read_list<uint32_t>(target, 4)), "1 22 33 4");
}

CONFORM(cuMemcpyHtoDAsync, any_size_and_alignment) {
  std::vector<uint8_t> bytes(100003), zeros(100003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  Buffer target(100003);
  write_list(target, zeros);
  expect_code("99,999 bytes from 3 to 1",
              cuMemcpyHtoDAsync(target.at(1), &bytes[3], 99999, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  std::vector<uint8_t> got = read_list<uint8_t>(target, 100003);
  expect_true("the bytes", std::equal(got.begin() + 1, got.begin() + 100000, bytes.begin() + 3));
  expect("byte before", int{got[0]}, 0);
  expect("byte behind", int{got[100000]}, 0);
}

CONFORM(cuMemcpyHtoDAsync, host_side_may_be_any_memory) {
  Buffer one(4), two(4);
  write<uint32_t>(one, 77);
  expect_code("device memory",
              cuMemcpyHtoDAsync(two, reinterpret_cast<const void*>(one.at()), 4, nullptr),
              CUDA_SUCCESS);
  expect("its value", read<uint32_t>(two), 77u);
  Pinned<uint32_t> pinned(1);
  pinned[0] = 78;
  expect_code("pinned memory", cuMemcpyHtoDAsync(two, pinned.data(), 4, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("the pinned value", read<uint32_t>(two), 78u);
}

CONFORM(cuMemcpyHtoDAsync, managed_and_pinned_memory_are_device_sides) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint32_t> pinned(1);
  uint32_t value = 9;
  expect_code("managed", cuMemcpyHtoDAsync(managed, &value, 4, nullptr), CUDA_SUCCESS);
  expect_code("pinned", cuMemcpyHtoDAsync(pinned.address(), &value, 4, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("managed value", *reinterpret_cast<volatile uint32_t*>(managed), 9u);
  expect("pinned value", uint32_t{pinned[0]}, 9u);
}

CONFORM(cuMemcpyHtoDAsync, ranges_that_cannot_be) {
  constexpr size_t all = 2 << 20;
  Buffer memory(all), other(all);
  std::vector<uint8_t> host(all + 1);
  expect_code("one byte beyond", cuMemcpyHtoDAsync(memory, host.data(), all + 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("wild target", cuMemcpyHtoDAsync(0x123456789000, host.data(), 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("target freed", cuMemcpyHtoDAsync(freed_address(), host.data(), 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null target", cuMemcpyHtoDAsync(0, host.data(), 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null source", cuMemcpyHtoDAsync(memory, nullptr, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("all addresses", cuMemcpyHtoDAsync(memory, host.data(), ~size_t{0}, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes from nowhere", cuMemcpyHtoDAsync(0, nullptr, 0, nullptr), CUDA_SUCCESS);
}

CONFORM(cuMemcpyHtoDAsync, waits_for_the_stream) {
  Pinned<uint32_t> source(1);
  source[0] = 6;
  Buffer target(4);
  write<uint32_t>(target, 1);
  HeldStream stream;
  expect_code("queued", cuMemcpyHtoDAsync(target, source.data(), 4, stream), CUDA_SUCCESS);
  expect("not before its turn", read<uint32_t>(target), 1u);
  source[0] = 7;
  stream.open();
  expect("reads what is there in its turn", read<uint32_t>(target), 7u);
}

CONFORM(cuMemcpyHtoDAsync, plain_memory_may_be_reused_at_once) {
  Buffer target(4);
  uint32_t source = 6;
  HeldStream stream;
  expect_code("queued", cuMemcpyHtoDAsync(target, &source, 4, stream), CUDA_SUCCESS);
  source = 7;
  stream.open();
  expect("what the source held", read<uint32_t>(target), 6u);
}

CONFORM(cuMemcpyHtoDAsync, streams_that_are_none) {
  Buffer one(16), two(16);
  uint32_t host[4] = {};
  expect_code("destroyed", cuMemcpyHtoDAsync(one, host, 4, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemcpyHtoDAsync(one, host, 4, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("before the size", cuMemcpyHtoDAsync(one, host, 0, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMemcpyHtoDAsync, needs_a_context, initialised) {
  uint32_t word = 0;
  expect_code("no context", cuMemcpyHtoDAsync(4096, &word, 4, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuMemcpyHtoDAsync, a_new_thread_has_no_context) {
  uint32_t word = 0;
  expect_code("elsewhere",
              on_a_bare_thread([&] { return cuMemcpyHtoDAsync(4096, &word, 4, nullptr); }),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyHtoDAsync, needs_cuInit, nothing) {
  uint32_t word = 0;
  expect_code("not initialised", cuMemcpyHtoDAsync(4096, &word, 4, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyHtoDAsync, abi_of_32_bit_addresses_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUdeviceptr_v1, const void*, unsigned, CUstream)>(
      driver_symbol("cuMemcpyHtoDAsync"));
  expect_code("old ABI", old(0, nullptr, 0, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
