#include <thread>

#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuStreamEndCapture, an_empty_capture) {
  CUstream stream = new_stream();
  CUgraph graph = nullptr;
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  expect_code("ends", cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  expect("nodes", count_nodes(graph), 0u);
  expect_code("is the caller's", cuGraphDestroy(graph), CUDA_SUCCESS);
}

CONFORM(cuStreamEndCapture, what_was_forked_must_be_joined) {
  Buffer out(4);
  CUstream one = new_stream(), two = new_stream();
  CUevent event = new_event();
  CUgraph graph = foreign_handle<CUgraph>();
  REQUIRE(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
  REQUIRE(cuMemsetD32Async(out, 1, 1, one));
  REQUIRE(cuEventRecord(event, one));
  REQUIRE(cuStreamWaitEvent(two, event, 0));
  REQUIRE(cuMemsetD32Async(out, 2, 1, two));
  expect_code("not joined", cuStreamEndCapture(one, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  expect("no graph", graph, nullptr);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  REQUIRE(cuStreamIsCapturing(two, &status));
  expect("both are free", status, CU_STREAM_CAPTURE_STATUS_NONE);
}

CONFORM(cuStreamEndCapture, on_the_stream_where_it_began) {
  Buffer out(4);
  CUstream one = new_stream(), two = new_stream();
  CUevent event = new_event();
  CUgraph graph = nullptr;
  REQUIRE(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
  REQUIRE(cuMemsetD32Async(out, 1, 1, one));
  REQUIRE(cuEventRecord(event, one));
  REQUIRE(cuStreamWaitEvent(two, event, 0));
  expect_code("on another", cuStreamEndCapture(two, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  cuStreamEndCapture(one, &graph);
}

CONFORM(cuStreamEndCapture, in_the_thread_where_it_began) {
  CUstream stream = new_stream();
  CUgraph graph = nullptr;
  CUcontext context = context_now();
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CUresult elsewhere = CUDA_SUCCESS;
  std::thread([&] {
    cuCtxSetCurrent(context);
    elsewhere = cuStreamEndCapture(stream, &graph);
  }).join();
  expect_code("elsewhere", elsewhere, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  expect_code("here", cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  std::thread([&] {
    cuCtxSetCurrent(context);
    elsewhere = cuStreamEndCapture(stream, &graph);
  }).join();
  expect_code("relaxed", elsewhere, CUDA_SUCCESS);
}

CONFORM(cuStreamEndCapture, wrong_arguments) {
  CUstream stream = new_stream();
  CUgraph graph = nullptr;
  expect_code("not begun", cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
  expect_code("the legacy stream", cuStreamEndCapture(nullptr, &graph), CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  expect_code("no result", cuStreamEndCapture(stream, nullptr), CUDA_SUCCESS);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  REQUIRE(cuStreamIsCapturing(stream, &status));
  expect("ended all the same", status, CU_STREAM_CAPTURE_STATUS_NONE);
}

}  // namespace limen::conform
