#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphAddEventRecordNode, is_reached_when_the_node_runs) {
  uint32_t* words = pinned_words();
  auto flag = reinterpret_cast<CUdeviceptr>(words);
  CUevent event = new_event();
  CUgraph graph = new_graph();
  void* list[] = {&flag};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(common_kernel("spin"), list);
  CUgraphNode spin = nullptr, node = nullptr;
  REQUIRE(cuGraphAddKernelNode(&spin, graph, nullptr, 0, &params));
  expect_code("adds", cuGraphAddEventRecordNode(&node, graph, &spin, 1, event), CUDA_SUCCESS);
  CUgraphExec exec = instantiate(graph);
  expect_code("not recorded yet", cuEventQuery(event), CUDA_SUCCESS);
  CUstream stream = new_stream();
  REQUIRE(cuGraphLaunch(exec, stream));
  expect_code("not reached", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  *static_cast<volatile uint32_t*>(words) = 1;
  expect_code("reached", cuEventSynchronize(event), CUDA_SUCCESS);
  expect_code("over", cuStreamSynchronize(stream), CUDA_SUCCESS);
}

CONFORM(cuGraphAddEventRecordNode, another_stream_waits_for_it) {
  Buffer out(8);
  CUevent event = new_event();
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr, first = add_kernel(graph, {}, "store", out, 3);
  expect_code("adds", cuGraphAddEventRecordNode(&node, graph, &first, 1, event), CUDA_SUCCESS);
  CUgraphExec exec = instantiate(graph);
  CUstream one = new_stream(), other = new_stream();
  REQUIRE(cuGraphLaunch(exec, one));
  REQUIRE(cuStreamWaitEvent(other, event, 0));
  REQUIRE(cuMemcpyDtoDAsync(out.at(4), out, 4, other));
  REQUIRE(cuStreamSynchronize(other));
  expect("value", read<uint32_t>(out.at(4)), 3u);
}

CONFORM(cuGraphAddEventRecordNode, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  expect_code("no event", cuGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphAddEventRecordNode(&node, nullptr, nullptr, 0, new_event()),
              CUDA_ERROR_INVALID_VALUE);
}

// source: cuda.h 13.0, CUDA_ERROR_CAPTURED_EVENT: "last recorded in a capturing stream".
CONFORM(cuGraphAddEventRecordNode, an_event_that_a_capture_recorded_before) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUgraph captured = nullptr, graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  REQUIRE(cuEventRecord(event, stream));
  REQUIRE(cuStreamEndCapture(stream, &captured));
  REQUIRE(cuGraphCreate(&graph, 0));
  expect_code("adds", cuGraphAddEventRecordNode(&node, graph, nullptr, 0, event), CUDA_SUCCESS);
  REQUIRE(cuGraphInstantiateWithFlags(&exec, graph, 0));
  expect_code("before the launch", cuEventQuery(event), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuGraphLaunch(exec, stream));
  expect_code("after it", cuEventSynchronize(event), CUDA_SUCCESS);
}

}  // namespace limen::conform
