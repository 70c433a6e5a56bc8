#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphAddEventWaitNode, waits_for_work_of_a_stream) {
  uint32_t* words = pinned_words();
  Buffer out(8);
  write<uint64_t>(out, 0);
  CUevent event = new_event();
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  expect_code("adds", cuGraphAddEventWaitNode(&node, graph, nullptr, 0, event), CUDA_SUCCESS);
  add_copy(graph, {node}, out.at(4), out);
  CUgraphExec exec = instantiate(graph);
  CUstream stream = new_stream(), other = new_stream();
  CUfunction store = common_kernel("store");
  REQUIRE(launch(common_kernel("spin"), 1, 1, other, reinterpret_cast<CUdeviceptr>(words)));
  REQUIRE(launch(store, 1, 1, other, out.at(), 8u));
  REQUIRE(cuEventRecord(event, other));
  REQUIRE(cuGraphLaunch(exec, stream));
  expect_code("waits", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  *static_cast<volatile uint32_t*>(words) = 1;
  REQUIRE(cuStreamSynchronize(stream));
  expect("copied after the wait", read<uint32_t>(out.at(4)), 8u);
}

CONFORM(cuGraphAddEventWaitNode, an_event_without_a_record_holds_nothing_up) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  expect_code("adds", cuGraphAddEventWaitNode(&node, graph, nullptr, 0, new_event()), CUDA_SUCCESS);
  add_fill(graph, {node}, out, 4);
  run(graph);
  expect("value", read<uint32_t>(out), 4u);
}

CONFORM(cuGraphAddEventWaitNode, wrong_arguments) {
  CUgraphNode node = nullptr;
  expect_code("no event", cuGraphAddEventWaitNode(&node, new_graph(), nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphAddEventWaitNode(&node, nullptr, nullptr, 0, new_event()),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
