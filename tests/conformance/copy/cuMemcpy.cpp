#include <algorithm>

#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpy, moves_the_bytes_and_no_others) {
  Buffer source(16);
  write_list<uint32_t>(source, {11, 22, 33, 44});
  Buffer target(16);
  write_list<uint32_t>(target, {1, 2, 3, 4});
  expect_code("two words", cuMemcpy(target.at(4), source.at(4), 8), CUDA_SUCCESS);
  expect("target", listed(read_list<uint32_t>(target, 4)), "1 22 33 4");
}

CONFORM(cuMemcpy, any_size_and_alignment) {
  std::vector<uint8_t> bytes(100003), zeros(100003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  Buffer source(100003);
  write_list(source, bytes);
  Buffer target(100003);
  write_list(target, zeros);
  expect_code("99,999 bytes from 3 to 1", cuMemcpy(target.at(1), source.at(3), 99999),
              CUDA_SUCCESS);
  std::vector<uint8_t> got = read_list<uint8_t>(target, 100003);
  expect_true("the bytes", std::equal(got.begin() + 1, got.begin() + 100000, bytes.begin() + 3));
  expect("byte before", int{got[0]}, 0);
  expect("byte behind", int{got[100000]}, 0);
}

CONFORM(cuMemcpy, takes_any_kind_of_memory) {
  Pinned<uint32_t> pinned(1);
  uint32_t plain = 5;
  Buffer device(4);
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
  auto address = [](uint32_t* p) { return reinterpret_cast<CUdeviceptr>(p); };
  expect_code("plain to pinned", cuMemcpy(pinned.address(), address(&plain), 4), CUDA_SUCCESS);
  expect_code("pinned to device", cuMemcpy(device, pinned.address(), 4), CUDA_SUCCESS);
  expect_code("device to managed", cuMemcpy(managed, device, 4), CUDA_SUCCESS);
  uint32_t other = 0, last = 0;
  expect_code("managed to plain", cuMemcpy(address(&other), managed, 4), CUDA_SUCCESS);
  expect_code("plain to plain", cuMemcpy(address(&last), address(&other), 4), CUDA_SUCCESS);
  expect("the value after five copies", last, 5u);
}

CONFORM(cuMemcpy, ranges_that_cannot_be) {
  constexpr size_t all = 2 << 20;
  Buffer memory(all), other(all);
  expect_code("one byte beyond", cuMemcpy(memory, other, all + 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("null target", cuMemcpy(0, other, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("null source", cuMemcpy(memory, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes from nowhere", cuMemcpy(0, 0, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuMemcpy, needs_a_context, initialised) {
  expect_code("no context", cuMemcpy(4096, 4096, 4), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuMemcpy, a_new_thread_has_no_context) {
  expect_code("elsewhere", on_a_bare_thread([&] { return cuMemcpy(4096, 4096, 4); }),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpy, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemcpy(4096, 4096, 4), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
