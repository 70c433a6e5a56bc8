#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemsetD8Async, fills_what_it_is_told_and_no_more) {
  Buffer memory(8);
  write_list<uint8_t>(memory, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_code("three", cuMemsetD8Async(memory.at(1), 0xab, 3, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("elements", listed(read_list<uint8_t>(memory, 8)), "1 171 171 171 5 6 7 8");
}

CONFORM(cuMemsetD8Async, large_memory) {
  Buffer memory(300000 * 1);
  write<uint8_t>(memory.at(299999 * 1), 7);
  expect_code("all but the last", cuMemsetD8Async(memory, 0xab, 299999, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  auto got = read_list<uint8_t>(memory, 300000);
  size_t set = 0;
  for (uint8_t element : got) set += element == 0xab;
  expect("set", set, 299999u);
  expect("the last", int{got.back()}, 7);
}

CONFORM(cuMemsetD8Async, nothing_to_fill) {
  Buffer memory(16);
  write<uint32_t>(memory, 5);
  expect_code("no elements", cuMemsetD8Async(memory, 0xab, 0, nullptr), CUDA_SUCCESS);
  expect_code("none, nowhere", cuMemsetD8Async(0, 0xab, 0, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("kept", read<uint32_t>(memory), 5u);
}

CONFORM(cuMemsetD8Async, memory_that_the_host_sees) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint8_t> pinned(4);
  expect_code("managed", cuMemsetD8Async(managed, 0xab, 4, nullptr), CUDA_SUCCESS);
  expect_code("pinned", cuMemsetD8Async(pinned.address(), 0xab, 3, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("managed element", uint8_t{reinterpret_cast<volatile uint8_t*>(managed)[3]},
         uint8_t{0xab});
  expect("pinned element", uint8_t{pinned[2]}, uint8_t{0xab});
  expect("pinned, behind", uint8_t{pinned[3]}, uint8_t{0});
}

CONFORM(cuMemsetD8Async, ranges_that_cannot_be) {
  Buffer memory(2 << 20);
  static uint32_t plain[4];
  const auto host = reinterpret_cast<CUdeviceptr>(plain);
  expect_code("one beyond", cuMemsetD8Async(memory, 0xab, 2097153, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null", cuMemsetD8Async(0, 0xab, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("wild", cuMemsetD8Async(0x123456789000, 0xab, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("freed", cuMemsetD8Async(freed_address(), 0xab, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("plain host memory", cuMemsetD8Async(host, 0xab, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("more than all addresses", cuMemsetD8Async(memory, 0xab, ~size_t{0} / 2, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemsetD8Async, waits_for_the_stream) {
  Buffer memory(16);
  write<uint8_t>(memory, 3);
  HeldStream stream;
  expect_code("queued", cuMemsetD8Async(memory, 0xab, 1, stream), CUDA_SUCCESS);
  expect("not before its turn", read<uint8_t>(memory), uint8_t{3});
  stream.open();
  expect("in its turn", read<uint8_t>(memory), uint8_t{0xab});
}

CONFORM(cuMemsetD8Async, streams_that_are_none) {
  Buffer memory(16);
  expect_code("destroyed", cuMemsetD8Async(memory, 0xab, 1, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemsetD8Async(memory, 0xab, 1, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMemsetD8Async, needs_a_context, initialised) {
  expect_code("no context", cuMemsetD8Async(4096, 0xab, 1, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemsetD8Async, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemsetD8Async(4096, 0xab, 1, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
