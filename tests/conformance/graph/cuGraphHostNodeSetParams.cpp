#include "conformance/graph/graphs.h"

namespace limen::conform {

namespace {
void add_one(void* data) { *static_cast<int*>(data) += 1; }
void add_ten(void* data) { *static_cast<int*>(data) += 10; }
}  // namespace

CONFORM(cuGraphHostNodeSetParams, changes_the_next_instance) {
  int one = 0, other = 0;
  CUgraph graph = new_graph();
  CUDA_HOST_NODE_PARAMS params = {add_one, &one};
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddHostNode(&node, graph, nullptr, 0, &params));
  params = {add_ten, &other};
  expect_code("sets", cuGraphHostNodeSetParams(node, &params), CUDA_SUCCESS);
  run(graph);
  expect("the old", one, 0);
  expect("the new", other, 10);
}

CONFORM(cuGraphHostNodeSetParams, wrong_arguments) {
  CUDA_HOST_NODE_PARAMS params = {add_one, nullptr};
  expect_code("another type", cuGraphHostNodeSetParams(add_empty(new_graph()), &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphHostNodeSetParams(add_empty(new_graph()), nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
