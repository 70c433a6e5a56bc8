#include "conformance/conform.h"
#include "conformance/gate.h"

#include <chrono>
#include <thread>

namespace limen::conform {
namespace {

/// A stream that a kernel holds until open() is called.
struct Held {
  Held() {
    REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    *static_cast<volatile uint32_t*>(memory) = 0;
    REQUIRE(launch(common_kernel("spin"), 1, 1, stream, memory));
  }
  void open() { *static_cast<volatile uint32_t*>(memory) = 1; }
  CUstream stream = nullptr;
  void* memory = nullptr;
};

CUstream destroyed() {
  CUstream gone = nullptr;
  REQUIRE(cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamDestroy(gone));
  return gone;
}

}  // namespace

CONFORM(cuStreamSynchronize, waits) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Buffer word(4);
  write<uint32_t>(word, 0);
  REQUIRE(launch(common_kernel("add"), 512, 128, stream, word.at(), 1u));
  expect_code("wait", cuStreamSynchronize(stream), CUDA_SUCCESS);
  expect_code("idle", cuStreamQuery(stream), CUDA_SUCCESS);
  expect("done", read<uint32_t>(word), 65536u);
  expect_code("destroyed", cuStreamSynchronize(destroyed()), CUDA_ERROR_INVALID_HANDLE);
  Held held;
  expect_code("another stream's work is not waited for", cuStreamSynchronize(stream), CUDA_SUCCESS);
  held.open();
}

CONFORM(cuStreamSynchronize, waits_for_its_own_work_only) {
  CUstream one = nullptr, two = nullptr;
  REQUIRE(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
  HostWord word;
  CUfunction store = common_kernel("store");
  Gate gate(one);
  REQUIRE(cuLaunchHostFunc(
      two, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }, nullptr));
  REQUIRE(launch(store, 1, 1, two, word.at(), 4u));
  expect_code("waits", cuStreamSynchronize(two), CUDA_SUCCESS);
  expect("its kernel", word.value(), 4u);
  expect_code("the other still runs", cuStreamQuery(one), CUDA_ERROR_NOT_READY);
  gate.open();
  expect_code("the other ends", cuStreamSynchronize(one), CUDA_SUCCESS);
  expect_code("nothing queued", cuStreamSynchronize(one), CUDA_SUCCESS);
}

CONFORM(cuStreamSynchronize, default_streams) {
  CUfunction store = common_kernel("store");
  HostWord first, second, third;
  CUstream plain = nullptr;
  REQUIRE(cuStreamCreate(&plain, CU_STREAM_DEFAULT));
  REQUIRE(cuLaunchHostFunc(
      plain, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }, nullptr));
  REQUIRE(launch(store, 1, 1, plain, first.at(), 1u));
  REQUIRE(launch(store, 1, 1, nullptr, second.at(), 2u));
  expect_code("null", cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  expect("the plain stream's kernel", first.value(), 1u);
  expect("the legacy stream's kernel", second.value(), 2u);
  expect_code("legacy", cuStreamSynchronize(CU_STREAM_LEGACY), CUDA_SUCCESS);
  REQUIRE(launch(store, 1, 1, CU_STREAM_PER_THREAD, third.at(), 3u));
  expect_code("per thread", cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  expect("this thread's kernel", third.value(), 3u);
}

CONFORM(cuStreamSynchronize, the_per_thread_abi) {
  auto own = reinterpret_cast<CUresult (*)(CUstream)>(driver_symbol("cuStreamSynchronize_ptsz"));
  CUfunction store = common_kernel("store");
  HostWord word, other;
  CUstream gated = nullptr;
  REQUIRE(cuStreamCreate(&gated, CU_STREAM_NON_BLOCKING));
  Gate gate(gated);
  REQUIRE(launch(store, 1, 1, CU_STREAM_PER_THREAD, word.at(), 9u));
  expect_code("null is this thread's", own(nullptr), CUDA_SUCCESS);
  expect("its kernel", word.value(), 9u);
  expect_code("a stream", own(gated = nullptr), CUDA_SUCCESS);
  gate.open();
}

CONFORM(cuStreamSynchronize, a_failed_kernel) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  REQUIRE(launch(common_kernel("trap"), 1, 1, stream));
  expect_code("its failure", cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  expect_code("stays", cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  expect_code("on every stream", cuStreamSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
}

CONFORM(cuStreamSynchronize, wrong_streams) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  REQUIRE(cuStreamDestroy(stream));
  expect_code("destroyed", cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuStreamSynchronize, foreign_memory) {
  expect_code("refused", cuStreamSynchronize(foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuStreamSynchronize, needs_a_context, initialised) {
  expect_code("no context", cuStreamSynchronize(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamSynchronize, needs_cuInit, nothing) {
  expect_code("not initialised", cuStreamSynchronize(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
