#include <algorithm>

#include "conformance/places.h"

namespace limen::conform {

static CUcontext current_context() {
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  return context;
}

CONFORM(cuMemcpyPeerAsync, moves_the_bytes_and_no_others) {
  CUcontext context = current_context();
  Buffer source(16);
  write_list<uint32_t>(source, {11, 22, 33, 44});
  Buffer target(16);
  write_list<uint32_t>(target, {1, 2, 3, 4});
  expect_code("two words",
              cuMemcpyPeerAsync(target.at(4), context, source.at(4), context, 8, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("target", listed(read_list<uint32_t>(target, 4)), "1 22 33 4");
}

CONFORM(cuMemcpyPeerAsync, any_size_and_alignment) {
  CUcontext context = current_context();
  std::vector<uint8_t> bytes(100003), zeros(100003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  Buffer source(100003);
  write_list(source, bytes);
  Buffer target(100003);
  write_list(target, zeros);
  expect_code("99,999 bytes from 3 to 1",
              cuMemcpyPeerAsync(target.at(1), context, source.at(3), context, 99999, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  std::vector<uint8_t> got = read_list<uint8_t>(target, 100003);
  expect_true("the bytes", std::equal(got.begin() + 1, got.begin() + 100000, bytes.begin() + 3));
  expect("byte before", int{got[0]}, 0);
  expect("byte behind", int{got[100000]}, 0);
}

CONFORM(cuMemcpyPeerAsync, managed_and_pinned_memory_are_device_sides) {
  CUcontext context = current_context();
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint32_t> pinned(1);
  pinned[0] = 9;
  expect_code("pinned to managed",
              cuMemcpyPeerAsync(managed, context, pinned.address(), context, 4, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("value", *reinterpret_cast<volatile uint32_t*>(managed), 9u);
}

CONFORM(cuMemcpyPeerAsync, ranges_that_cannot_be) {
  CUcontext context = current_context();
  constexpr size_t all = 2 << 20;
  Buffer memory(all), other(all);
  expect_code("one byte beyond",
              cuMemcpyPeerAsync(memory, context, other, context, all + 1, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("wild target", cuMemcpyPeerAsync(0x123456789000, context, other, context, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("target freed",
              cuMemcpyPeerAsync(freed_address(), context, other, context, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null target", cuMemcpyPeerAsync(0, context, other, context, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("wild source",
              cuMemcpyPeerAsync(memory, context, 0x123456789000, context, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("source freed",
              cuMemcpyPeerAsync(memory, context, freed_address(), context, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null source", cuMemcpyPeerAsync(memory, context, 0, context, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("all addresses",
              cuMemcpyPeerAsync(memory, context, other, context, ~size_t{0}, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes from nowhere", cuMemcpyPeerAsync(0, context, 0, context, 0, nullptr),
              CUDA_SUCCESS);
}

CONFORM(cuMemcpyPeerAsync, plain_host_memory_is_no_device_side) {
  CUcontext context = current_context();
  Buffer memory(16);
  static uint32_t plain[4];
  auto host = reinterpret_cast<CUdeviceptr>(plain);
  expect_code("as target", cuMemcpyPeerAsync(host, context, memory, context, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("as source", cuMemcpyPeerAsync(memory, context, host, context, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemcpyPeerAsync, waits_for_the_stream) {
  CUcontext context = current_context();
  Buffer source(4);
  write<uint32_t>(source, 6);
  Buffer target(4);
  write<uint32_t>(target, 1);
  HeldStream stream;
  expect_code("queued", cuMemcpyPeerAsync(target, context, source, context, 4, stream),
              CUDA_SUCCESS);
  expect("not before its turn", read<uint32_t>(target), 1u);
  write<uint32_t>(source, 7);
  stream.open();
  expect("reads what is there in its turn", read<uint32_t>(target), 7u);
}

CONFORM(cuMemcpyPeerAsync, streams_that_are_none) {
  CUcontext context = current_context();
  Buffer one(16), two(16);
  expect_code("destroyed", cuMemcpyPeerAsync(one, context, two, context, 4, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up",
              cuMemcpyPeerAsync(one, context, two, context, 4, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("before the size",
              cuMemcpyPeerAsync(one, context, two, context, 0, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuMemcpyPeerAsync, contexts) {
  Buffer one(4), two(4);
  write<uint32_t>(two, 3);
  CUcontext context = current_context();
  expect_code("null is the current one", cuMemcpyPeerAsync(one, nullptr, two, nullptr, 4, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("value", read<uint32_t>(one), 3u);
  auto* foreign = foreign_handle<CUcontext>();
  expect_code("no target context", cuMemcpyPeerAsync(one, foreign, two, context, 4, nullptr),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
  expect_code("no source context", cuMemcpyPeerAsync(one, context, two, foreign, 4, nullptr),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM_WITH(cuMemcpyPeerAsync, needs_a_context, initialised) {
  expect_code("no context", cuMemcpyPeerAsync(4096, nullptr, 4096, nullptr, 4, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuMemcpyPeerAsync, a_new_thread_has_no_context) {
  expect_code("elsewhere", on_a_bare_thread([&] {
                return cuMemcpyPeerAsync(4096, nullptr, 4096, nullptr, 4, nullptr);
              }),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyPeerAsync, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemcpyPeerAsync(4096, nullptr, 4096, nullptr, 4, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
