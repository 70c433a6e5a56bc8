#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphNodeGetDependencies, lists_the_neighbours) {
  CUgraph graph = new_graph();
  CUgraphNode zero = add_empty(graph), one = add_empty(graph);
  CUgraphNode two = add_empty(graph, {zero, one});
  [[maybe_unused]] CUgraphNode three = add_empty(graph, {zero});
  CUgraphNode got[3];
  size_t count = 0;
  expect_code("how many", cuGraphNodeGetDependencies(two, nullptr, nullptr, &count), CUDA_SUCCESS);
  expect("count", count, 2u);
  count = 3;
  expect_code("which", cuGraphNodeGetDependencies(two, got, nullptr, &count), CUDA_SUCCESS);
  expect("given", count, 2u);
  [[maybe_unused]] CUgraphNode expected[2] = {zero, one};
  expect_true("both", (got[0] == expected[0] && got[1] == expected[1]) ||
                          (got[0] == expected[1] && got[1] == expected[0]));
  expect("null beyond", got[2], nullptr);
}

CONFORM(cuGraphNodeGetDependencies, wrong_arguments) {
  CUgraphNode node = add_empty(new_graph());
  CUgraphEdgeData data;
  size_t count = 1;
  expect_code("no node", cuGraphNodeGetDependencies(nullptr, nullptr, nullptr, &count),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no count", cuGraphNodeGetDependencies(node, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("data without nodes", cuGraphNodeGetDependencies(node, nullptr, &data, &count),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
