#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphChildGraphNodeGetGraph, is_the_node_s_own_graph) {
  Buffer out(4);
  CUgraph child = new_graph(), graph = new_graph(), inside = nullptr;
  add_fill(child, {}, out, 1);
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  expect_code("asks", cuGraphChildGraphNodeGetGraph(node, &inside), CUDA_SUCCESS);
  expect_true("a copy", inside != child);
  expect("nodes", count_nodes(inside), 1u);
  CUDA_MEMSET_NODE_PARAMS params = fill_params(out, 2);
  expect_code("may be changed", cuGraphMemsetNodeSetParams(first_node(inside), &params),
              CUDA_SUCCESS);
  run(graph);
  expect("value", read<uint32_t>(out), 2u);
  expect_code("is not the caller's to destroy", cuGraphDestroy(inside), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuGraphChildGraphNodeGetGraph, wrong_arguments) {
  CUgraph inside = nullptr;
  expect_code("another type", cuGraphChildGraphNodeGetGraph(add_empty(new_graph()), &inside),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphChildGraphNodeGetGraph(nullptr, &inside), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
