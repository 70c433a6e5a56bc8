#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphNodeFindInClone, finds_the_copy) {
  CUgraph graph = new_graph(), clone = nullptr;
  CUgraphNode one = add_empty(graph), two = add_empty(graph, {one}), found = nullptr,
              after = nullptr;
  REQUIRE(cuGraphClone(&clone, graph));
  expect_code("finds", cuGraphNodeFindInClone(&found, two, clone), CUDA_SUCCESS);
  expect_true("another node", found != two);
  size_t count = 1;
  REQUIRE(cuGraphNodeGetDependencies(found, &after, nullptr, &count));
  CUgraphNode first = nullptr;
  expect_code("its dependency", cuGraphNodeFindInClone(&first, one, clone), CUDA_SUCCESS);
  expect_true("is the copy of the other", after == first);
}

CONFORM(cuGraphNodeFindInClone, wrong_arguments) {
  CUgraph graph = new_graph(), clone = nullptr;
  CUgraphNode found = nullptr;
  add_empty(graph);
  REQUIRE(cuGraphClone(&clone, graph));
  expect_code("added later", cuGraphNodeFindInClone(&found, add_empty(graph), clone),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no clone", cuGraphNodeFindInClone(&found, first_node(graph), new_graph()),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
