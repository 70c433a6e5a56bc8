#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphClone, is_apart_from_the_original) {
  Buffer out(8);
  CUgraph graph = new_graph(), clone = nullptr;
  CUgraphNode fill = add_fill(graph, {}, out, 1);
  add_kernel(graph, {fill}, "add", out, 2);
  expect_code("clones", cuGraphClone(&clone, graph), CUDA_SUCCESS);
  expect("nodes", count_nodes(clone), 2u);
  expect("edges", count_edges(clone), 1u);
  CUDA_MEMSET_NODE_PARAMS params = fill_params(out, 100);
  REQUIRE(cuGraphMemsetNodeSetParams(fill, &params));
  add_kernel(graph, {}, "add", out.at(4), 1);
  run(clone);
  expect("as it was", read<uint32_t>(out), 3u);
  REQUIRE(cuGraphDestroy(graph));
  run(clone);
  expect("without the original", read<uint32_t>(out), 3u);
}

CONFORM(cuGraphClone, wrong_arguments) {
  CUgraph clone = nullptr;
  expect_code("no graph", cuGraphClone(&clone, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuGraphClone(nullptr, new_graph()), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
