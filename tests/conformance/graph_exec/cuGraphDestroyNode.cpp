#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphDestroyNode, takes_its_edges_with_it) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode fill = add_fill(graph, {}, out, 1),
              middle = add_kernel(graph, {fill}, "add", out, 10);
  CUgraphNode last = add_empty(graph, {middle});
  expect_code("destroys", cuGraphDestroyNode(middle), CUDA_SUCCESS);
  expect("nodes", count_nodes(graph), 2u);
  expect("edges", count_edges(graph), 0u);
  size_t count = 9;
  REQUIRE(cuGraphNodeGetDependencies(last, nullptr, nullptr, &count));
  expect("dependencies of the last", count, 0u);
  run(graph);
  expect("value", read<uint32_t>(out), 1u);
}

CONFORM(cuGraphDestroyNode, wrong_arguments) {
  expect_code("no node", cuGraphDestroyNode(nullptr), CUDA_ERROR_INVALID_VALUE);
  CUgraphNode node = add_empty(new_graph());
  expect_code("destroys", cuGraphDestroyNode(node), CUDA_SUCCESS);
}

}  // namespace limen::conform
