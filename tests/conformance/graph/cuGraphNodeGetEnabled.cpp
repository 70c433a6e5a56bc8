#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphNodeGetEnabled, tells) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode fill = add_fill(graph, {}, out, 1);
  CUgraphExec exec = instantiate(graph);
  unsigned enabled = 7;
  expect_code("at first", cuGraphNodeGetEnabled(exec, fill, &enabled), CUDA_SUCCESS);
  expect("on", enabled, 1u);
  REQUIRE(cuGraphNodeSetEnabled(exec, fill, 0));
  expect_code("then", cuGraphNodeGetEnabled(exec, fill, &enabled), CUDA_SUCCESS);
  expect("off", enabled, 0u);
}

CONFORM(cuGraphNodeGetEnabled, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode empty = add_empty(graph);
  unsigned enabled;
  expect_code("a type that cannot be", cuGraphNodeGetEnabled(instantiate(graph), empty, &enabled),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphNodeGetEnabled(nullptr, empty, &enabled),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
