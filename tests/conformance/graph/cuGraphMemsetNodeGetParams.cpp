#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphMemsetNodeGetParams, gives_what_was_set) {
  Buffer out(64);
  CUgraph graph = new_graph();
  CUDA_MEMSET_NODE_PARAMS params = {out.at(), 32, 9, 2, 5, 2}, got{};
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context_now()));
  expect_code("asks", cuGraphMemsetNodeGetParams(node, &got), CUDA_SUCCESS);
  expect_true("address", got.dst == out.at());
  expect("pitch", got.pitch, 32u);
  expect("value", got.value, 9u);
  expect("element", got.elementSize, 2u);
  expect("width", got.width, 5u);
  expect("height", got.height, 2u);
}

CONFORM(cuGraphMemsetNodeGetParams, wrong_arguments) {
  CUDA_MEMSET_NODE_PARAMS got{};
  CUgraphNode node = add_empty(new_graph());
  expect_code("another type", cuGraphMemsetNodeGetParams(node, &got), CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphMemsetNodeGetParams(nullptr, &got), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
