#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExecNodeSetParams, changes_the_executable_graph) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode node = add_fill(graph, {}, out, 1);
  CUgraphExec exec = instantiate(graph);
  CUgraphNodeParams params = node_params(CU_GRAPH_NODE_TYPE_MEMSET);
  params.memset = {out.at(), 0, 2, 4, 1, 1, context_now()};
  expect_code("sets", cuGraphExecNodeSetParams(exec, node, &params), CUDA_SUCCESS);
  run(exec);
  expect("value", read<uint32_t>(out), 2u);
}

CONFORM(cuGraphExecNodeSetParams, wrong_arguments) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode node = add_fill(graph, {}, out, 1);
  CUgraphExec exec = instantiate(graph);
  CUgraphNodeParams params = node_params(CU_GRAPH_NODE_TYPE_EMPTY);
  expect_code("another type", cuGraphExecNodeSetParams(exec, node, &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphExecNodeSetParams(exec, node, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
