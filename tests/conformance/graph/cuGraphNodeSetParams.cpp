#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphNodeSetParams, changes_the_next_instance) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode fill = add_fill(graph, {}, out, 1);
  CUgraphNodeParams params = node_params(CU_GRAPH_NODE_TYPE_MEMSET);
  params.memset = {out.at(), 0, 2, 4, 1, 1, context_now()};
  expect_code("sets", cuGraphNodeSetParams(fill, &params), CUDA_SUCCESS);
  run(graph);
  expect("value", read<uint32_t>(out), 2u);
}

CONFORM(cuGraphNodeSetParams, wrong_arguments) {
  Buffer out(4);
  CUgraphNode fill = add_fill(new_graph(), {}, out, 1);
  CUgraphNodeParams params = node_params(CU_GRAPH_NODE_TYPE_EMPTY);
  expect_code("another type", cuGraphNodeSetParams(fill, &params), CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphNodeSetParams(fill, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
