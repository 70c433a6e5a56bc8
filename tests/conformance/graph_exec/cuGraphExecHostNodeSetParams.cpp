#include "conformance/graph/graphs.h"

namespace limen::conform {

namespace {
void add_one(void* data) { *static_cast<int*>(data) += 1; }
void add_ten(void* data) { *static_cast<int*>(data) += 10; }
}  // namespace

CONFORM(cuGraphExecHostNodeSetParams, another_function) {
  int one = 0, other = 0;
  CUgraph graph = new_graph();
  CUDA_HOST_NODE_PARAMS params = {add_one, &one};
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddHostNode(&node, graph, nullptr, 0, &params));
  CUgraphExec exec = instantiate(graph);
  params = {add_ten, &other};
  expect_code("sets", cuGraphExecHostNodeSetParams(exec, node, &params), CUDA_SUCCESS);
  run(exec);
  expect("the old", one, 0);
  expect("the new", other, 10);
}

CONFORM(cuGraphExecHostNodeSetParams, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode empty = add_empty(graph);
  CUDA_HOST_NODE_PARAMS params = {add_one, nullptr};
  expect_code("another type", cuGraphExecHostNodeSetParams(instantiate(graph), empty, &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphExecHostNodeSetParams(nullptr, empty, &params),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
