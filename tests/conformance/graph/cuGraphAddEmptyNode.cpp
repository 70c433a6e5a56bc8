#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphAddEmptyNode, joins_branches) {
  Buffer out(16);
  CUgraph graph = new_graph();
  CUgraphNode branches[4];
  for (uint32_t i = 0; i < 4; ++i)
    branches[i] = add_kernel(graph, {}, "store", out.at(4 * i), i + 1);
  CUgraphNode join = nullptr;
  expect_code("adds", cuGraphAddEmptyNode(&join, graph, branches, 4), CUDA_SUCCESS);
  add_kernel(graph, {join}, "add", out, 10);
  size_t count = 0;
  REQUIRE(cuGraphNodeGetDependencies(join, nullptr, nullptr, &count));
  expect("dependencies", count, 4u);
  run(graph);
  expect("first", read<uint32_t>(out), 11u);
  expect("last", read<uint32_t>(out.at(12)), 4u);
}

CONFORM(cuGraphAddEmptyNode, wrong_arguments) {
  CUgraphNode node = nullptr;
  expect_code("no graph", cuGraphAddEmptyNode(&node, nullptr, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuGraphAddEmptyNode(nullptr, new_graph(), nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no list", cuGraphAddEmptyNode(&node, new_graph(), nullptr, 2),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
