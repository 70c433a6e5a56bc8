#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphGetNodes, in_the_order_in_which_they_were_added) {
  CUgraph graph = new_graph();
  CUgraphNode made[3] = {add_empty(graph), add_empty(graph), add_empty(graph)};
  CUgraphNode got[5];
  std::memset(got, 0xff, sizeof got);
  size_t count = 0;
  expect_code("how many", cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  expect("count", count, 3u);
  count = 5;
  expect_code("more room than nodes", cuGraphGetNodes(graph, got, &count), CUDA_SUCCESS);
  expect("count given", count, 3u);
  for (int i = 0; i < 3; ++i) expect_true("node " + std::to_string(i), got[i] == made[i]);
  expect("null beyond", got[3], nullptr);
  expect("null at the end", got[4], nullptr);
  count = 2;
  expect_code("less room", cuGraphGetNodes(graph, got, &count), CUDA_SUCCESS);
  expect("count of the room", count, 2u);
}

CONFORM(cuGraphGetNodes, wrong_arguments) {
  size_t count = 0;
  expect_code("no graph", cuGraphGetNodes(nullptr, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  expect_code("no count", cuGraphGetNodes(new_graph(), nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
