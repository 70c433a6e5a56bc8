#include <algorithm>

#include "conformance/places.h"

namespace limen::conform {

static CUcontext current_context() {
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  return context;
}

CONFORM(cuMemcpyPeer, moves_the_bytes_and_no_others) {
  CUcontext context = current_context();
  Buffer source(16);
  write_list<uint32_t>(source, {11, 22, 33, 44});
  Buffer target(16);
  write_list<uint32_t>(target, {1, 2, 3, 4});
  expect_code("two words", cuMemcpyPeer(target.at(4), context, source.at(4), context, 8),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("target", listed(read_list<uint32_t>(target, 4)), "1 22 33 4");
}

CONFORM(cuMemcpyPeer, any_size_and_alignment) {
  CUcontext context = current_context();
  std::vector<uint8_t> bytes(100003), zeros(100003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  Buffer source(100003);
  write_list(source, bytes);
  Buffer target(100003);
  write_list(target, zeros);
  expect_code("99,999 bytes from 3 to 1",
              cuMemcpyPeer(target.at(1), context, source.at(3), context, 99999), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  std::vector<uint8_t> got = read_list<uint8_t>(target, 100003);
  expect_true("the bytes", std::equal(got.begin() + 1, got.begin() + 100000, bytes.begin() + 3));
  expect("byte before", int{got[0]}, 0);
  expect("byte behind", int{got[100000]}, 0);
}

CONFORM(cuMemcpyPeer, managed_and_pinned_memory_are_device_sides) {
  CUcontext context = current_context();
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
  Pinned<uint32_t> pinned(1);
  pinned[0] = 9;
  expect_code("pinned to managed", cuMemcpyPeer(managed, context, pinned.address(), context, 4),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("value", *reinterpret_cast<volatile uint32_t*>(managed), 9u);
}

CONFORM(cuMemcpyPeer, ranges_that_cannot_be) {
  CUcontext context = current_context();
  constexpr size_t all = 2 << 20;
  Buffer memory(all), other(all);
  expect_code("one byte beyond", cuMemcpyPeer(memory, context, other, context, all + 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("wild target", cuMemcpyPeer(0x123456789000, context, other, context, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("target freed", cuMemcpyPeer(freed_address(), context, other, context, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null target", cuMemcpyPeer(0, context, other, context, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("wild source", cuMemcpyPeer(memory, context, 0x123456789000, context, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("source freed", cuMemcpyPeer(memory, context, freed_address(), context, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("null source", cuMemcpyPeer(memory, context, 0, context, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("all addresses", cuMemcpyPeer(memory, context, other, context, ~size_t{0}),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes from nowhere", cuMemcpyPeer(0, context, 0, context, 0), CUDA_SUCCESS);
}

CONFORM(cuMemcpyPeer, plain_host_memory_is_no_device_side) {
  CUcontext context = current_context();
  Buffer memory(16);
  static uint32_t plain[4];
  auto host = reinterpret_cast<CUdeviceptr>(plain);
  expect_code("as target", cuMemcpyPeer(host, context, memory, context, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("as source", cuMemcpyPeer(memory, context, host, context, 4),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemcpyPeer, contexts) {
  Buffer one(4), two(4);
  write<uint32_t>(two, 3);
  CUcontext context = current_context();
  expect_code("null is the current one", cuMemcpyPeer(one, nullptr, two, nullptr, 4), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("value", read<uint32_t>(one), 3u);
  auto* foreign = foreign_handle<CUcontext>();
  expect_code("no target context", cuMemcpyPeer(one, foreign, two, context, 4),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
  expect_code("no source context", cuMemcpyPeer(one, context, two, foreign, 4),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM_WITH(cuMemcpyPeer, needs_a_context, initialised) {
  expect_code("no context", cuMemcpyPeer(4096, nullptr, 4096, nullptr, 4),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuMemcpyPeer, a_new_thread_has_no_context) {
  expect_code("elsewhere",
              on_a_bare_thread([&] { return cuMemcpyPeer(4096, nullptr, 4096, nullptr, 4); }),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyPeer, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemcpyPeer(4096, nullptr, 4096, nullptr, 4),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
