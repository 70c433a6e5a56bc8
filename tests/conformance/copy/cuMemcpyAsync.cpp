#include <algorithm>

#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyAsync, moves_the_bytes_and_no_others) {
  Buffer source(16);
  write_list<uint32_t>(source, {11, 22, 33, 44});
  Buffer target(16);
  write_list<uint32_t>(target, {1, 2, 3, 4});
  expect_code("two words", cuMemcpyAsync(target.at(4), source.at(4), 8, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("target", listed(read_list<uint32_t>(target, 4)), "1 22 33 4");
}

CONFORM(cuMemcpyAsync, any_size_and_alignment) {
  std::vector<uint8_t> bytes(100003), zeros(100003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  Buffer source(100003);
  write_list(source, bytes);
  Buffer target(100003);
  write_list(target, zeros);
  expect_code("99,999 bytes from 3 to 1", cuMemcpyAsync(target.at(1), source.at(3), 99999, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  std::vector<uint8_t> got = read_list<uint8_t>(target, 100003);
  expect_true("the bytes", std::equal(got.begin() + 1, got.begin() + 100000, bytes.begin() + 3));
  expect("byte before", int{got[0]}, 0);
  expect("byte behind", int{got[100000]}, 0);
}

CONFORM(cuMemcpyAsync, takes_any_kind_of_memory) {
  Pinned<uint32_t> pinned(1);
  uint32_t plain = 5;
  Buffer device(4);
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
  auto address = [](uint32_t* p) { return reinterpret_cast<CUdeviceptr>(p); };
  expect_code("plain to pinned", cuMemcpyAsync(pinned.address(), address(&plain), 4, nullptr),
              CUDA_SUCCESS);
  expect_code("pinned to device", cuMemcpyAsync(device, pinned.address(), 4, nullptr),
              CUDA_SUCCESS);
  expect_code("device to managed", cuMemcpyAsync(managed, device, 4, nullptr), CUDA_SUCCESS);
  uint32_t other = 0, last = 0;
  expect_code("managed to plain", cuMemcpyAsync(address(&other), managed, 4, nullptr),
              CUDA_SUCCESS);
  expect_code("plain to plain", cuMemcpyAsync(address(&last), address(&other), 4, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("the value after five copies", last, 5u);
}

CONFORM(cuMemcpyAsync, ranges_that_cannot_be) {
  constexpr size_t all = 2 << 20;
  Buffer memory(all), other(all);
  expect_code("one byte beyond", cuMemcpyAsync(memory, other, all + 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null target", cuMemcpyAsync(0, other, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("null source", cuMemcpyAsync(memory, 0, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes from nowhere", cuMemcpyAsync(0, 0, 0, nullptr), CUDA_SUCCESS);
}

CONFORM(cuMemcpyAsync, waits_for_the_stream) {
  Buffer source(4);
  write<uint32_t>(source, 6);
  Buffer target(4);
  write<uint32_t>(target, 1);
  HeldStream stream;
  expect_code("queued", cuMemcpyAsync(target, source, 4, stream), CUDA_SUCCESS);
  expect("not before its turn", read<uint32_t>(target), 1u);
  write<uint32_t>(source, 7);
  stream.open();
  expect("reads what is there in its turn", read<uint32_t>(target), 7u);
}

CONFORM(cuMemcpyAsync, streams_that_are_none) {
  Buffer one(16), two(16);
  expect_code("destroyed", cuMemcpyAsync(one, two, 4, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemcpyAsync(one, two, 4, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("before the size", cuMemcpyAsync(one, two, 0, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMemcpyAsync, needs_a_context, initialised) {
  expect_code("no context", cuMemcpyAsync(4096, 4096, 4, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuMemcpyAsync, a_new_thread_has_no_context) {
  expect_code("elsewhere", on_a_bare_thread([&] { return cuMemcpyAsync(4096, 4096, 4, nullptr); }),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyAsync, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemcpyAsync(4096, 4096, 4, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
