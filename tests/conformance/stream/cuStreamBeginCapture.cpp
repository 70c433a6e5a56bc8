#include "conformance/graph/graphs.h"

namespace limen::conform {

namespace {
CUresult begin(CUstream stream) {
  return cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
}  // namespace

CONFORM(cuStreamBeginCapture, records_instead_of_running) {
  Buffer out(8);
  write<uint64_t>(out, 0);
  CUfunction add = common_kernel("add");
  CUstream stream = new_stream();
  CUgraph graph = nullptr;
  expect_code("begins", begin(stream), CUDA_SUCCESS);
  expect_code("launch", launch(add, 1, 32, stream, out.at(), 1u), CUDA_SUCCESS);
  expect_code("fill", cuMemsetD32Async(out.at(4), 5, 1, stream), CUDA_SUCCESS);
  expect_code("launch again", launch(add, 1, 32, stream, out.at(4), 2u), CUDA_SUCCESS);
  expect_code("ends", cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  expect("nodes", count_nodes(graph), 3u);
  expect("in a chain", count_edges(graph), 2u);
  expect("nothing ran", read<uint64_t>(out), 0u);
  CUgraphExec exec = instantiate(graph);
  for (uint32_t i = 1; i <= 3; ++i) {
    run(exec);
    expect("first word " + std::to_string(i), read<uint32_t>(out), 32u * i);
    expect("second word " + std::to_string(i), read<uint32_t>(out.at(4)), 69u);
  }
  expect_code("the stream works as before", launch(add, 1, 1, stream, out.at(4), 1u), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("at once", read<uint32_t>(out.at(4)), 70u);
}

CONFORM(cuStreamBeginCapture, forks_and_joins_through_events) {
  Buffer out(16);
  write<uint64_t>(out, 0);
  write<uint64_t>(out.at(8), 0);
  CUfunction store = common_kernel("store"), add = common_kernel("add");
  CUstream one = new_stream(), two = new_stream();
  CUevent fork = new_event(), join = new_event();
  CUgraph graph = nullptr;
  expect_code("begins", begin(one), CUDA_SUCCESS);
  REQUIRE(launch(store, 1, 1, one, out.at(), 1u));
  REQUIRE(cuEventRecord(fork, one));
  REQUIRE(cuStreamWaitEvent(two, fork, 0));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  REQUIRE(cuStreamIsCapturing(two, &status));
  expect("the other stream is captured", status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  REQUIRE(launch(store, 1, 1, two, out.at(4), 2u));
  REQUIRE(launch(store, 1, 1, one, out.at(8), 3u));
  REQUIRE(cuEventRecord(join, two));
  REQUIRE(cuStreamWaitEvent(one, join, 0));
  REQUIRE(launch(add, 1, 1, one, out.at(), 10u));
  expect_code("ends", cuStreamEndCapture(one, &graph), CUDA_SUCCESS);
  REQUIRE(cuStreamIsCapturing(two, &status));
  expect("the other stream is free", status, CU_STREAM_CAPTURE_STATUS_NONE);
  expect("nodes", count_nodes(graph), 4u);
  expect("edges", count_edges(graph), 4u);
  run(graph);
  expect("first", read<uint32_t>(out), 11u);
  expect("second", read<uint32_t>(out.at(4)), 2u);
  expect("third", read<uint32_t>(out.at(8)), 3u);
}

CONFORM(cuStreamBeginCapture, copies_and_host_functions) {
  static int calls;
  calls = 0;
  uint32_t* words = pinned_words();
  Buffer out(4);
  CUgraph graph = nullptr;
  CUfunction add = common_kernel("add");
  CUstream stream = new_stream();
  words[0] = 40;
  expect_code("begins", begin(stream), CUDA_SUCCESS);
  expect_code("copy in", cuMemcpyHtoDAsync(out, words, 4, stream), CUDA_SUCCESS);
  REQUIRE(launch(add, 1, 1, stream, out.at(), 1u));
  expect_code("copy out", cuMemcpyDtoHAsync(words + 1, out, 4, stream), CUDA_SUCCESS);
  expect_code("a function",
              cuLaunchHostFunc(
                  stream, [](void*) { ++calls; }, nullptr),
              CUDA_SUCCESS);
  expect_code("ends", cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  expect("nodes", count_nodes(graph), 4u);
  run(graph);
  expect("sum", words[1], 41u);
  expect("calls", calls, 1);
}

CONFORM(cuStreamBeginCapture, graphs_are_not_launched) {
  Buffer out(4);
  write<uint32_t>(out, 0);
  CUgraph inner = new_graph(), graph = nullptr;
  add_kernel(inner, {}, "add", out, 1);
  CUgraphExec exec = instantiate(inner);
  CUstream stream = new_stream();
  expect_code("begins", begin(stream), CUDA_SUCCESS);
  expect_code("a graph", cuGraphLaunch(exec, stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_code("ends", cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect("nothing ran", read<uint32_t>(out), 0u);
}

CONFORM(cuStreamBeginCapture, memory_allocated_in_the_stream) {
  Buffer out(4);
  CUfunction store = common_kernel("store");
  CUstream stream = new_stream();
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  expect_code("begins", begin(stream), CUDA_SUCCESS);
  expect_code("allocates", cuMemAllocAsync(&memory, 256, stream), CUDA_SUCCESS);
  REQUIRE(launch(store, 1, 1, stream, memory, 21u));
  REQUIRE(cuMemcpyDtoDAsync(out, memory, 4, stream));
  expect_code("frees", cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  expect_code("ends", cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  CUgraphExec exec = instantiate(graph);
  for (int i = 0; i < 2; ++i) {
    write<uint32_t>(out, 0);
    run(exec);
    expect("value " + std::to_string(i), read<uint32_t>(out), 21u);
  }
}

CONFORM(cuStreamBeginCapture, wrong_arguments) {
  expect_code("the legacy stream", begin(nullptr), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUstream stream = new_stream();
  expect_code("no such mode", cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(7)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("begins", begin(stream), CUDA_SUCCESS);
  expect_code("again", begin(stream), CUDA_ERROR_ILLEGAL_STATE);
  expect_code("no stream", begin(foreign_handle<CUstream>()), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuStreamBeginCapture, calls_that_cannot_be_recorded_invalidate) {
  CUstream stream = new_stream();
  CUgraph graph = foreign_handle<CUgraph>();
  expect_code("begins", begin(stream), CUDA_SUCCESS);
  expect_code("query", cuStreamQuery(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  REQUIRE(cuStreamIsCapturing(stream, &status));
  expect("status", status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  expect_code("further work",
              cuLaunchHostFunc(
                  stream, [](void*) {}, nullptr),
              CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect_code("the end", cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect("no graph", graph, nullptr);
  expect_code("as before", cuStreamQuery(stream), CUDA_SUCCESS);
}

CONFORM(cuStreamBeginCapture, unsafe_calls_by_mode) {
  CUstream stream = new_stream();
  CUgraph graph = nullptr;
  CUdeviceptr memory = 0;
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  expect_code("relaxed", cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  expect_code("ends", cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  for (auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) {
    const std::string name = std::to_string(mode);
    expect_code("begins " + name, cuStreamBeginCapture(stream, mode), CUDA_SUCCESS);
    expect_code("refused " + name, cuMemAlloc(&memory, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_code("ends " + name, cuStreamEndCapture(stream, &graph),
                CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  }
}

CONFORM(cuStreamBeginCapture, the_legacy_stream_stands_aside) {
  Buffer out(4);
  CUstream blocking = nullptr;
  REQUIRE(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  CUgraph graph = nullptr;
  expect_code("begins", begin(blocking), CUDA_SUCCESS);
  expect_code("work in the legacy stream", cuMemsetD32Async(out, 1, 1, nullptr),
              CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  expect_code("ends", cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CUstream apart = new_stream();
  expect_code("a non-blocking one begins", begin(apart), CUDA_SUCCESS);
  expect_code("does not matter to it", cuMemsetD32Async(out, 1, 1, nullptr), CUDA_SUCCESS);
  expect_code("ends well", cuStreamEndCapture(apart, &graph), CUDA_SUCCESS);
}

CONFORM(cuStreamBeginCapture, events_cross_no_border) {
  Buffer out(4);
  CUstream one = new_stream(), two = new_stream(), free = new_stream();
  CUevent plain = new_event(), inside = new_event();
  CUgraph graph = nullptr;
  REQUIRE(cuEventRecord(plain, free));
  expect_code("begins", begin(one), CUDA_SUCCESS);
  expect_code("waits for what is outside", cuStreamWaitEvent(one, plain, 0),
              CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  expect_code("ends", cuStreamEndCapture(one, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect_code("one begins", begin(one), CUDA_SUCCESS);
  expect_code("two begins", begin(two), CUDA_SUCCESS);
  REQUIRE(cuMemsetD32Async(out, 1, 1, one));
  REQUIRE(cuEventRecord(inside, one));
  expect_code("two captures meet", cuStreamWaitEvent(two, inside, 0),
              CUDA_ERROR_STREAM_CAPTURE_MERGE);
  cuStreamEndCapture(one, &graph);
  cuStreamEndCapture(two, &graph);
}

CONFORM(cuStreamBeginCapture, a_captured_event_is_not_asked) {
  CUstream stream = new_stream();
  CUevent event = new_event();
  CUgraph graph = nullptr;
  expect_code("begins", begin(stream), CUDA_SUCCESS);
  REQUIRE(cuEventRecord(event, stream));
  expect_code("query", cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
  expect_code("ends", cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect_code("still", cuEventSynchronize(event), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuEventRecord(event, stream));
  expect_code("a plain event again", cuEventSynchronize(event), CUDA_SUCCESS);
}

CONFORM(cuStreamBeginCapture, a_context_is_not_waited_for) {
  CUstream stream = new_stream();
  CUgraph graph = nullptr;
  expect_code("begins", cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  expect_code("cuCtxSynchronize", cuCtxSynchronize(nullptr), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_code("ends", cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

CONFORM_WITH(cuStreamBeginCapture, needs_a_context, initialised) {
  expect_code("no context", begin(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
