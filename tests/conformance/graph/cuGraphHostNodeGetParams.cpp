#include "conformance/graph/graphs.h"

namespace limen::conform {

namespace {
void nothing(void*) {}
}  // namespace

CONFORM(cuGraphHostNodeGetParams, gives_what_was_set) {
  int data = 0;
  CUgraph graph = new_graph();
  CUDA_HOST_NODE_PARAMS params = {nothing, &data}, got{};
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddHostNode(&node, graph, nullptr, 0, &params));
  expect_code("asks", cuGraphHostNodeGetParams(node, &got), CUDA_SUCCESS);
  expect_true("function", got.fn == nothing);
  expect_true("data", got.userData == &data);
}

CONFORM(cuGraphHostNodeGetParams, wrong_arguments) {
  CUDA_HOST_NODE_PARAMS got{};
  expect_code("another type", cuGraphHostNodeGetParams(add_empty(new_graph()), &got),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphHostNodeGetParams(nullptr, &got), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
