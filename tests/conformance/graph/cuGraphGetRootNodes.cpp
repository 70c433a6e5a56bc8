#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphGetRootNodes, those_without_dependencies) {
  CUgraph graph = new_graph();
  CUgraphNode one = add_empty(graph), two = add_empty(graph, {one}), three = add_empty(graph);
  add_empty(graph, {two, three});
  CUgraphNode got[3] = {};
  size_t count = 0;
  expect_code("how many", cuGraphGetRootNodes(graph, nullptr, &count), CUDA_SUCCESS);
  expect("count", count, 2u);
  count = 3;
  expect_code("which", cuGraphGetRootNodes(graph, got, &count), CUDA_SUCCESS);
  expect_true("both", (got[0] == one && got[1] == three) || (got[0] == three && got[1] == one));
  expect("null beyond", got[2], nullptr);
}

CONFORM(cuGraphGetRootNodes, wrong_arguments) {
  size_t count = 0;
  expect_code("no graph", cuGraphGetRootNodes(nullptr, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  expect_code("no count", cuGraphGetRootNodes(new_graph(), nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
