#include "conformance/conform.h"
#include "conformance/gate.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace limen::conform {
namespace {

void set_one(void* data) { *static_cast<volatile int*>(data) = 1; }

}  // namespace

CONFORM(cuLaunchHostFunc, in_stream_order) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(memory);
  *open = 0;
  volatile int called = 0;
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, memory));
  expect_code("queue", cuLaunchHostFunc(stream, set_one, const_cast<int*>(&called)), CUDA_SUCCESS);
  expect("not yet", int{called}, 0);
  *open = 1;
  REQUIRE(cuStreamSynchronize(stream));
  expect("after the kernel", int{called}, 1);
  expect_code("no function", cuLaunchHostFunc(stream, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

namespace {

struct Seen {
  std::atomic<int> calls{0};
  const volatile uint32_t* word = nullptr;
  uint32_t value = 0;
  std::thread::id thread;
};

void note(void* data) {
  auto* seen = static_cast<Seen*>(data);
  if (seen->word) seen->value = *seen->word;
  seen->thread = std::this_thread::get_id();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ++seen->calls;
}

}  // namespace

CONFORM(cuLaunchHostFunc, is_called_in_stream_order) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUfunction store = common_kernel("store");
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  Seen seen;
  seen.word = static_cast<uint32_t*>(memory);
  Gate gate(stream);
  REQUIRE(launch(store, 1, 1, stream, memory, 11u));
  expect_code("launches", cuLaunchHostFunc(stream, note, &seen), CUDA_SUCCESS);
  REQUIRE(launch(store, 1, 1, stream, memory, 12u));
  expect("not called yet", seen.calls.load(), 0);
  gate.open();
  REQUIRE(cuStreamSynchronize(stream));
  expect("called once", seen.calls.load(), 1);
  expect("after the first store, before the second", seen.value, 11u);
  expect("the second store waited", *seen.word, 12u);
  expect_true("on another thread", seen.thread != std::this_thread::get_id());
}

CONFORM(cuLaunchHostFunc, the_default_streams) {
  Seen seen;
  expect_code("null", cuLaunchHostFunc(nullptr, note, &seen), CUDA_SUCCESS);
  expect_code("per thread", cuLaunchHostFunc(CU_STREAM_PER_THREAD, note, &seen), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("both called", seen.calls.load(), 2);
}

CONFORM(cuLaunchHostFunc, a_failed_context_calls_none) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Seen seen;
  CUfunction trap = common_kernel("trap");  // loading may wait for what runs
  Gate gate(stream);
  REQUIRE(launch(trap, 1, 1, stream));
  expect_code("launches", cuLaunchHostFunc(stream, note, &seen), CUDA_SUCCESS);
  gate.open();
  expect_code("the failure", cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  expect("not called", seen.calls.load(), 0);
  expect_code("a later one", cuLaunchHostFunc(stream, note, &seen), CUDA_ERROR_LAUNCH_FAILED);
}

CONFORM(cuLaunchHostFunc, may_not_call_the_driver) {
  static std::atomic<int> memory{-1}, stream_wait{-1}, stream_query{-1}, event_wait{-1},
      event_query{-1}, context_wait{-1};
  static CUstream stream = nullptr;
  static CUevent event = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuEventCreate(&event, 0));
  // What waits comes last, and nobody waits for it: -1 says that a call did not return.
  CUhostFn calls = [](void*) {
    CUdeviceptr address = 0;
    stream_query = static_cast<int>(cuStreamQuery(stream));
    memory = static_cast<int>(cuMemAlloc(&address, 16));
    event_query = static_cast<int>(cuEventQuery(event));
    event_wait = static_cast<int>(cuEventSynchronize(event));
    context_wait = static_cast<int>(cuCtxSynchronize(nullptr));
    stream_wait = static_cast<int>(cuStreamSynchronize(stream));
  };
  expect_code("launches", cuLaunchHostFunc(stream, calls, nullptr), CUDA_SUCCESS);
  for (int i = 0; i < 500 && stream_wait.load() == -1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  expect("memory", memory.load(), 800);
  expect("waiting for its stream", stream_wait.load(), -1);
  expect("asking its stream", stream_query.load(), 600);
  expect("asking an event", event_query.load(), 0);
  expect("waiting for an event", event_wait.load(), 0);
  expect("waiting for its context", context_wait.load(), 800);
}

CONFORM(cuLaunchHostFunc, wrong_arguments) {
  Seen seen;
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  REQUIRE(cuStreamDestroy(stream));
  expect_code("no function", cuLaunchHostFunc(nullptr, nullptr, &seen), CUDA_ERROR_INVALID_VALUE);
  expect_code("destroyed", cuLaunchHostFunc(stream, note, &seen), CUDA_ERROR_INVALID_HANDLE);
  expect("never called", seen.calls.load(), 0);
}

CONFORM_WITH(cuLaunchHostFunc, needs_a_context, initialised) {
  expect_code("no context", cuLaunchHostFunc(nullptr, note, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuLaunchHostFunc, needs_cuInit, nothing) {
  expect_code("not initialised", cuLaunchHostFunc(nullptr, note, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
