#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphMemcpyNodeGetParams, gives_what_was_set) {
  Buffer from(64), to(64);
  CUgraph graph = new_graph();
  CUgraphNode node = add_copy(graph, {}, to, from, 48);
  CUDA_MEMCPY3D got{};
  expect_code("asks", cuGraphMemcpyNodeGetParams(node, &got), CUDA_SUCCESS);
  expect_true("from", got.srcDevice == from.at());
  expect_true("to", got.dstDevice == to.at());
  expect("bytes", got.WidthInBytes, 48u);
  expect("rows", got.Height, 1u);
}

CONFORM(cuGraphMemcpyNodeGetParams, wrong_arguments) {
  CUDA_MEMCPY3D got{};
  CUgraphNode node = add_empty(new_graph());
  expect_code("another type", cuGraphMemcpyNodeGetParams(node, &got), CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphMemcpyNodeGetParams(nullptr, &got), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
