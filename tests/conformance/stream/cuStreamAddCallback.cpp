#include "conformance/conform.h"
#include "conformance/gate.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace limen::conform {
namespace {

struct Seen {
  volatile int count = 0;
  CUresult status = CUDA_ERROR_UNKNOWN;
  CUstream stream = nullptr;
};

void see(CUstream stream, CUresult status, void* data) {
  auto* seen = static_cast<Seen*>(data);
  seen->stream = stream;
  seen->status = status;
  seen->count = 1;
}

}  // namespace

CONFORM(cuStreamAddCallback, in_stream_order) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Seen seen;
  Buffer word(4);
  REQUIRE(launch(common_kernel("store"), 1, 1, stream, word.at(), 1u));
  expect_code("add", cuStreamAddCallback(stream, see, &seen, 0), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("called", int{seen.count}, 1);
  expect_code("told of success", seen.status, CUDA_SUCCESS);
  expect_true("and of its stream", seen.stream == stream);
  expect_code("flags", cuStreamAddCallback(stream, see, &seen, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuStreamAddCallback(stream, nullptr, &seen, 0),
              CUDA_ERROR_INVALID_VALUE);
}

namespace {

struct Heard {
  std::atomic<int> calls{0};
  std::atomic<int> status{-1};
  CUstream stream = nullptr;
  const volatile uint32_t* word = nullptr;
  uint32_t value = 0;
};

void note(CUstream stream, CUresult status, void* data) {
  auto* seen = static_cast<Heard*>(data);
  if (seen->word) seen->value = *seen->word;
  seen->stream = stream;
  seen->status = static_cast<int>(status);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ++seen->calls;
}

}  // namespace

CONFORM(cuStreamAddCallback, is_called_in_stream_order) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUfunction store = common_kernel("store");
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  Heard seen;
  seen.word = static_cast<uint32_t*>(memory);
  Gate gate(stream);
  REQUIRE(launch(store, 1, 1, stream, memory, 11u));
  expect_code("adds", cuStreamAddCallback(stream, note, &seen, 0), CUDA_SUCCESS);
  REQUIRE(launch(store, 1, 1, stream, memory, 12u));
  expect("not called yet", seen.calls.load(), 0);
  gate.open();
  REQUIRE(cuStreamSynchronize(stream));
  expect("called once", seen.calls.load(), 1);
  expect("after the first store, before the second", seen.value, 11u);
  expect("with success", seen.status.load(), 0);
  expect_true("with its stream", seen.stream == stream);
  expect("the second store waited", *seen.word, 12u);
}

CONFORM(cuStreamAddCallback, on_the_default_stream) {
  Heard seen;
  expect_code("adds", cuStreamAddCallback(nullptr, note, &seen, 0), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("called", seen.calls.load(), 1);
  expect_true("with the null stream", seen.stream == nullptr);
}

CONFORM(cuStreamAddCallback, hears_of_a_failure) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Heard seen;
  CUfunction trap = common_kernel("trap");
  Gate gate(stream);
  REQUIRE(launch(trap, 1, 1, stream));
  expect_code("adds", cuStreamAddCallback(stream, note, &seen, 0), CUDA_SUCCESS);
  gate.open();
  expect_code("the failure", cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  for (int i = 0; i < 200 && !seen.calls; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  expect("called all the same", seen.calls.load(), 1);
  expect("with the failure", seen.status.load(), 719);
}

CONFORM(cuStreamAddCallback, may_not_call_the_driver) {
  static std::atomic<int> code{-1};
  auto call = [](CUstream, CUresult, void*) {
    CUdeviceptr address = 0;
    code = static_cast<int>(cuMemAlloc(&address, 16));
  };
  expect_code("adds", cuStreamAddCallback(nullptr, call, nullptr, 0), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("not permitted", code.load(), 800);
}

CONFORM(cuStreamAddCallback, wrong_arguments) {
  Heard seen;
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  expect_code("no callback", cuStreamAddCallback(stream, nullptr, &seen, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuStreamAddCallback(stream, note, &seen, 1), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuStreamDestroy(stream));
  expect_code("destroyed", cuStreamAddCallback(stream, note, &seen, 0), CUDA_ERROR_INVALID_HANDLE);
  expect("never called", seen.calls.load(), 0);
}

CONFORM_WITH(cuStreamAddCallback, needs_a_context, initialised) {
  auto call = [](CUstream, CUresult, void*) {};
  expect_code("no context", cuStreamAddCallback(nullptr, call, nullptr, 0),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamAddCallback, needs_cuInit, nothing) {
  auto call = [](CUstream, CUresult, void*) {};
  expect_code("not initialised", cuStreamAddCallback(nullptr, call, nullptr, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
