#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemsetD16Async, fills_what_it_is_told_and_no_more) {
  Buffer memory(16);
  write_list<uint16_t>(memory, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_code("three", cuMemsetD16Async(memory.at(2), 0xabcd, 3, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("elements", listed(read_list<uint16_t>(memory, 8)), "1 43981 43981 43981 5 6 7 8");
}

CONFORM(cuMemsetD16Async, large_memory) {
  Buffer memory(300000 * 2);
  write<uint16_t>(memory.at(299999 * 2), 7);
  expect_code("all but the last", cuMemsetD16Async(memory, 0xabcd, 299999, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  auto got = read_list<uint16_t>(memory, 300000);
  size_t set = 0;
  for (uint16_t element : got) set += element == 0xabcd;
  expect("set", set, 299999u);
  expect("the last", int{got.back()}, 7);
}

CONFORM(cuMemsetD16Async, nothing_to_fill) {
  Buffer memory(16);
  write<uint32_t>(memory, 5);
  expect_code("no elements", cuMemsetD16Async(memory, 0xabcd, 0, nullptr), CUDA_SUCCESS);
  expect_code("none, nowhere", cuMemsetD16Async(0, 0xabcd, 0, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("kept", read<uint32_t>(memory), 5u);
}

CONFORM(cuMemsetD16Async, memory_that_the_host_sees) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint16_t> pinned(4);
  expect_code("managed", cuMemsetD16Async(managed, 0xabcd, 4, nullptr), CUDA_SUCCESS);
  expect_code("pinned", cuMemsetD16Async(pinned.address(), 0xabcd, 3, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("managed element", uint16_t{reinterpret_cast<volatile uint16_t*>(managed)[3]},
         uint16_t{0xabcd});
  expect("pinned element", uint16_t{pinned[2]}, uint16_t{0xabcd});
  expect("pinned, behind", uint16_t{pinned[3]}, uint16_t{0});
}

CONFORM(cuMemsetD16Async, ranges_that_cannot_be) {
  Buffer memory(2 << 20);
  static uint32_t plain[4];
  const auto host = reinterpret_cast<CUdeviceptr>(plain);
  expect_code("one beyond", cuMemsetD16Async(memory, 0xabcd, 1048577, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null", cuMemsetD16Async(0, 0xabcd, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("wild", cuMemsetD16Async(0x123456789000, 0xabcd, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("freed", cuMemsetD16Async(freed_address(), 0xabcd, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("plain host memory", cuMemsetD16Async(host, 0xabcd, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("more than all addresses", cuMemsetD16Async(memory, 0xabcd, ~size_t{0} / 2, nullptr),
              CUDA_SUCCESS);
}

CONFORM(cuMemsetD16Async, alignment) {
  Buffer memory(64);
  expect_code("odd address", cuMemsetD16Async(memory.at(1), 0xabcd, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("aligned", cuMemsetD16Async(memory.at(2), 0xabcd, 1, nullptr), CUDA_SUCCESS);
}

CONFORM(cuMemsetD16Async, waits_for_the_stream) {
  Buffer memory(16);
  write<uint16_t>(memory, 3);
  HeldStream stream;
  expect_code("queued", cuMemsetD16Async(memory, 0xabcd, 1, stream), CUDA_SUCCESS);
  expect("not before its turn", read<uint16_t>(memory), uint16_t{3});
  stream.open();
  expect("in its turn", read<uint16_t>(memory), uint16_t{0xabcd});
}

CONFORM(cuMemsetD16Async, streams_that_are_none) {
  Buffer memory(16);
  expect_code("destroyed", cuMemsetD16Async(memory, 0xabcd, 1, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemsetD16Async(memory, 0xabcd, 1, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMemsetD16Async, needs_a_context, initialised) {
  expect_code("no context", cuMemsetD16Async(4096, 0xabcd, 1, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemsetD16Async, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemsetD16Async(4096, 0xabcd, 1, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
