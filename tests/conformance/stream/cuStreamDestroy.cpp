#include "conformance/conform.h"
#include "conformance/gate.h"

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

CONFORM(cuStreamDestroy, work_goes_on) {
  Held held;
  Buffer word(4);
  write<uint32_t>(word, 0);
  REQUIRE(cuMemsetD32Async(word, 6, 1, held.stream));
  expect_code("destroy", cuStreamDestroy(held.stream), CUDA_SUCCESS);
  expect_code("gone", cuStreamQuery(held.stream), CUDA_ERROR_INVALID_HANDLE);
  held.open();
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("its work was done", read<uint32_t>(word), 6u);
  expect_code("twice", cuStreamDestroy(destroyed()), CUDA_ERROR_INVALID_HANDLE);
  expect_code("the default stream", cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuStreamDestroy, queued_work_goes_on) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  HostWord word;
  {
    CUfunction store = common_kernel("store");
    Gate gate(stream);
    REQUIRE(launch(store, 1, 1, stream, word.at(), 6u));
    expect_code("does not wait", cuStreamDestroy(stream), CUDA_SUCCESS);
    expect("not run yet", word.value(), 0u);
  }
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("run after all", word.value(), 6u);
  expect_code("twice", cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
}

/// A capture in `origin` that has forked into a stream of its own and is destroyed there.
static CUgraph capture_over(CUstream origin, bool join, CUresult* end) {
  CUstream fork = nullptr;
  CUevent out = nullptr, back = nullptr;
  Buffer word(4);
  REQUIRE(cuStreamCreate(&fork, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuEventCreate(&out, 0));
  REQUIRE(cuEventCreate(&back, 0));
  REQUIRE(cuStreamBeginCapture(origin, CU_STREAM_CAPTURE_MODE_RELAXED));
  REQUIRE(cuEventRecord(out, origin));
  REQUIRE(cuStreamWaitEvent(fork, out, 0));
  REQUIRE(cuMemsetD32Async(word, 1, 1, fork));
  REQUIRE(cuEventRecord(back, fork));
  if (join) REQUIRE(cuStreamWaitEvent(origin, back, 0));
  expect_code(join ? "a joined stream" : "a stream that is not joined", cuStreamDestroy(fork),
              CUDA_SUCCESS);
  CUgraph graph = nullptr;
  *end = cuStreamEndCapture(origin, &graph);
  return graph;
}

// source: cuda-samples, graphMemoryNodes: destroys the stream that it forked into.
CONFORM(cuStreamDestroy, a_stream_that_a_capture_forked_into) {
  CUstream origin = nullptr;
  CUresult end;
  REQUIRE(cuStreamCreate(&origin, CU_STREAM_NON_BLOCKING));
  CUgraph graph = capture_over(origin, true, &end);
  expect_code("the capture ends", end, CUDA_SUCCESS);
  size_t count = 0;
  REQUIRE(cuGraphGetNodes(graph, nullptr, &count));
  expect("nodes", count, 1u);
  capture_over(origin, false, &end);
  expect_code("the other capture", end, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

CONFORM(cuStreamDestroy, default_streams_stay) {
  expect_code("null", cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("legacy", cuStreamDestroy(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_HANDLE);
  expect_code("per thread", cuStreamDestroy(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_HANDLE);
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  auto first = reinterpret_cast<CUresult (*)(CUstream)>(driver_symbol("cuStreamDestroy"));
  expect_code("first ABI", first(stream), CUDA_SUCCESS);
  expect_code("after it", cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuStreamDestroy, foreign_memory) {
  expect_code("refused", cuStreamDestroy(foreign_handle<CUstream>()), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuStreamDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
