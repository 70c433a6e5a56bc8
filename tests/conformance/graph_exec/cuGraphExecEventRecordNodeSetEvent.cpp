#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExecEventRecordNodeSetEvent, another_event) {
  uint32_t* words = pinned_words();
  auto flag = reinterpret_cast<CUdeviceptr>(words);
  CUevent one = new_event(), other = new_event();
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddEventRecordNode(&node, graph, nullptr, 0, one));
  CUgraphExec exec = instantiate(graph);
  expect_code("sets", cuGraphExecEventRecordNodeSetEvent(exec, node, other), CUDA_SUCCESS);
  CUstream stream = new_stream(), busy = new_stream();
  REQUIRE(launch(common_kernel("spin"), 1, 1, busy, flag));
  REQUIRE(cuStreamWaitEvent(stream, one, 0));
  REQUIRE(cuEventRecord(one, busy));
  REQUIRE(cuEventRecord(other, busy));
  REQUIRE(cuGraphLaunch(exec, stream));
  expect_code("the new one is recorded by the graph", cuEventSynchronize(other), CUDA_SUCCESS);
  expect_code("the old one is not", cuEventQuery(one), CUDA_ERROR_NOT_READY);
  __atomic_store_n(words, 1, __ATOMIC_SEQ_CST);
  REQUIRE(cuCtxSynchronize(nullptr));
}

CONFORM(cuGraphExecEventRecordNodeSetEvent, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode empty = add_empty(graph);
  CUgraphExec exec = instantiate(graph);
  expect_code("another type", cuGraphExecEventRecordNodeSetEvent(exec, empty, new_event()),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphExecEventRecordNodeSetEvent(nullptr, empty, new_event()),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
