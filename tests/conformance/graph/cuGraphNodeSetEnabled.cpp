#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphNodeSetEnabled, a_disabled_node_does_nothing) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode fill = add_fill(graph, {}, out, 1), add = add_kernel(graph, {fill}, "add", out, 10);
  add_kernel(graph, {add}, "add", out, 100);
  CUgraphExec exec = instantiate(graph);
  expect_code("off", cuGraphNodeSetEnabled(exec, add, 0), CUDA_SUCCESS);
  run(exec);
  expect("without it, in order", read<uint32_t>(out), 101u);
  expect_code("on", cuGraphNodeSetEnabled(exec, add, 1), CUDA_SUCCESS);
  run(exec);
  expect("with it", read<uint32_t>(out), 111u);
}

CONFORM(cuGraphNodeSetEnabled, launches_under_way_are_not_changed) {
  uint32_t* words = pinned_words();
  Buffer out(4);
  write<uint32_t>(out, 0);
  CUgraph graph = new_graph();
  CUgraphNode add = add_kernel(graph, {}, "add", out, 10);
  CUgraphExec exec = instantiate(graph);
  CUstream stream = new_stream();
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, reinterpret_cast<CUdeviceptr>(words)));
  REQUIRE(cuGraphLaunch(exec, stream));
  expect_code("off", cuGraphNodeSetEnabled(exec, add, 0), CUDA_SUCCESS);
  REQUIRE(cuGraphLaunch(exec, stream));
  *static_cast<volatile uint32_t*>(words) = 1;
  REQUIRE(cuStreamSynchronize(stream));
  expect("once", read<uint32_t>(out), 10u);
}

CONFORM(cuGraphNodeSetEnabled, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode empty = add_empty(graph);
  CUgraphExec exec = instantiate(graph);
  expect_code("a type that cannot be", cuGraphNodeSetEnabled(exec, empty, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("another graph's", cuGraphNodeSetEnabled(exec, add_empty(new_graph()), 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphNodeSetEnabled(nullptr, empty, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
