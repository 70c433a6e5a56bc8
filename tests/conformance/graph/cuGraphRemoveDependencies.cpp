#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphRemoveDependencies, takes_the_edge_away) {
  CUgraph graph = new_graph();
  CUgraphNode one = add_empty(graph), two = add_empty(graph, {one}),
              three = add_empty(graph, {one});
  expect_code("removes", cuGraphRemoveDependencies(graph, &one, &two, nullptr, 1), CUDA_SUCCESS);
  expect("edges", count_edges(graph), 1u);
  size_t roots = 0;
  REQUIRE(cuGraphGetRootNodes(graph, nullptr, &roots));
  expect("roots", roots, 2u);
  expect_code("again", cuGraphRemoveDependencies(graph, &one, &two, nullptr, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("the other way", cuGraphRemoveDependencies(graph, &three, &one, nullptr, 1),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuGraphRemoveDependencies, data_is_hardly_looked_at) {
  Buffer out(8);
  CUgraph graph = new_graph();
  CUgraphNode one = add_kernel(graph, {}, "store", out, 1),
              two = add_kernel(graph, {}, "store", out, 2);
  CUgraphEdgeData data{};
  data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  REQUIRE(cuGraphAddDependencies(graph, &one, &two, &data, 1));
  // The only edge between the two is meant, whatever is said of its data.
  expect_code("plain", cuGraphRemoveDependencies(graph, &one, &two, nullptr, 1), CUDA_SUCCESS);
  expect("edges", count_edges(graph), 0u);
  expect_code("with its data", cuGraphRemoveDependencies(graph, &one, &two, &data, 1),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuGraphAddDependencies(graph, &one, &two, &data, 1));
  CUgraphEdgeData other{};
  expect_code("with plain data", cuGraphRemoveDependencies(graph, &one, &two, &other, 1),
              CUDA_SUCCESS);
  REQUIRE(cuGraphAddDependencies(graph, &one, &two, &data, 1));
  other.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
  other.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  expect_code("with other data", cuGraphRemoveDependencies(graph, &one, &two, &other, 1),
              CUDA_SUCCESS);
  expect_code("with its data, once it is gone",
              cuGraphRemoveDependencies(graph, &one, &two, &data, 1), CUDA_ERROR_INVALID_VALUE);
  expect("none left", count_edges(graph), 0u);
}

}  // namespace limen::conform
