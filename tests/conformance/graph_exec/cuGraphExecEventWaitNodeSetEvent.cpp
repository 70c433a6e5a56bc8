#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExecEventWaitNodeSetEvent, another_event) {
  uint32_t* words = pinned_words();
  auto flag = reinterpret_cast<CUdeviceptr>(words);
  CUevent one = new_event(), other = new_event();
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddEventWaitNode(&node, graph, nullptr, 0, one));
  CUgraphExec exec = instantiate(graph);
  expect_code("sets", cuGraphExecEventWaitNodeSetEvent(exec, node, other), CUDA_SUCCESS);
  CUstream stream = new_stream(), busy = new_stream();
  REQUIRE(launch(common_kernel("spin"), 1, 1, busy, flag));
  REQUIRE(cuEventRecord(one, busy));
  REQUIRE(cuGraphLaunch(exec, stream));
  expect_code("does not wait for the old one", cuStreamSynchronize(stream), CUDA_SUCCESS);
  REQUIRE(cuEventRecord(other, busy));
  REQUIRE(cuGraphLaunch(exec, stream));
  expect_code("waits for the new one", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  __atomic_store_n(words, 1, __ATOMIC_SEQ_CST);
  REQUIRE(cuCtxSynchronize(nullptr));
}

CONFORM(cuGraphExecEventWaitNodeSetEvent, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode empty = add_empty(graph);
  CUgraphExec exec = instantiate(graph);
  expect_code("another type", cuGraphExecEventWaitNodeSetEvent(exec, empty, new_event()),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphExecEventWaitNodeSetEvent(nullptr, empty, new_event()),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
