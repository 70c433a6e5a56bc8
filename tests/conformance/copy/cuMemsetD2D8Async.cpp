#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemsetD2D8Async, fills_what_it_is_told_and_no_more) {
  Buffer memory(8);
  write_list<uint8_t>(memory, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_code("two rows of two", cuMemsetD2D8Async(memory.at(1), 3, 0xab, 2, 2, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("elements", listed(read_list<uint8_t>(memory, 8)), "1 171 171 4 171 171 7 8");
}

CONFORM(cuMemsetD2D8Async, large_pitched_memory) {
  CUdeviceptr memory = 0;
  size_t pitch = 0;
  REQUIRE(cuMemAllocPitch(&memory, &pitch, 1000 * 1, 300, 4));
  REQUIRE(cuMemsetD8(memory, 0, pitch * 300));
  expect_code("1,000 by 300", cuMemsetD2D8Async(memory, pitch, 0xab, 1000, 300, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  auto got = read_list<uint8_t>(memory, pitch / 1 * 300);
  size_t set = 0, kept = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const bool inside = i % (pitch / 1) < 1000;
    set += inside && got[i] == 0xab;
    kept += !inside && got[i] == 0;
  }
  expect("set", set, 300000u);
  expect("the rest is kept", kept, got.size() - 300000);
}

CONFORM(cuMemsetD2D8Async, nothing_to_fill) {
  Buffer memory(16);
  write<uint32_t>(memory, 5);
  expect_code("no width", cuMemsetD2D8Async(memory, 16, 0xab, 0, 2, nullptr), CUDA_SUCCESS);
  expect_code("no height", cuMemsetD2D8Async(memory, 16, 0xab, 2, 0, nullptr), CUDA_SUCCESS);
  expect_code("nothing, nowhere", cuMemsetD2D8Async(0, 0, 0xab, 0, 0, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("kept", read<uint32_t>(memory), 5u);
}

CONFORM(cuMemsetD2D8Async, memory_that_the_host_sees) {
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint8_t> pinned(4);
  expect_code("managed", cuMemsetD2D8Async(managed, 0, 0xab, 4, 1, nullptr), CUDA_SUCCESS);
  expect_code("pinned", cuMemsetD2D8Async(pinned.address(), 0, 0xab, 3, 1, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("managed element", uint8_t{reinterpret_cast<volatile uint8_t*>(managed)[3]},
         uint8_t{0xab});
  expect("pinned element", uint8_t{pinned[2]}, uint8_t{0xab});
  expect("pinned, behind", uint8_t{pinned[3]}, uint8_t{0});
}

CONFORM(cuMemsetD2D8Async, ranges_that_cannot_be) {
  Buffer memory(2 << 20);
  static uint32_t plain[4];
  const auto host = reinterpret_cast<CUdeviceptr>(plain);
  expect_code("one beyond", cuMemsetD2D8Async(memory, 0, 0xab, 2097153, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null", cuMemsetD2D8Async(0, 0, 0xab, 1, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("wild", cuMemsetD2D8Async(0x123456789000, 0, 0xab, 1, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("freed", cuMemsetD2D8Async(freed_address(), 0, 0xab, 1, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("plain host memory", cuMemsetD2D8Async(host, 0, 0xab, 1, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("more than all addresses",
              cuMemsetD2D8Async(memory, 0, 0xab, ~size_t{0} / 2, 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("last row beyond", cuMemsetD2D8Async(memory, 4096, 0xab, 4, 513, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("rows overlap", cuMemsetD2D8Async(memory, 3, 0xab, 4, 2, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("pitch of one row is not looked at",
              cuMemsetD2D8Async(memory, 1, 0xab, 4, 1, nullptr), CUDA_SUCCESS);
  // What the H200 takes, and writes somewhere.
  // Pitch times height is 2^64.
  expect_code("rows beyond all addresses",
              cuMemsetD2D8Async(memory, size_t{1} << 30, 0xab, 4, (size_t{1} << 34) + 1, nullptr),
              CUDA_SUCCESS);
}

CONFORM(cuMemsetD2D8Async, waits_for_the_stream) {
  Buffer memory(16);
  write<uint8_t>(memory, 3);
  HeldStream stream;
  expect_code("queued", cuMemsetD2D8Async(memory, 0, 0xab, 1, 1, stream), CUDA_SUCCESS);
  expect("not before its turn", read<uint8_t>(memory), uint8_t{3});
  stream.open();
  expect("in its turn", read<uint8_t>(memory), uint8_t{0xab});
}

CONFORM(cuMemsetD2D8Async, streams_that_are_none) {
  Buffer memory(16);
  expect_code("destroyed", cuMemsetD2D8Async(memory, 0, 0xab, 1, 1, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemsetD2D8Async(memory, 0, 0xab, 1, 1, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMemsetD2D8Async, needs_a_context, initialised) {
  expect_code("no context", cuMemsetD2D8Async(4096, 0, 0xab, 1, 1, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemsetD2D8Async, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemsetD2D8Async(4096, 0, 0xab, 1, 1, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
