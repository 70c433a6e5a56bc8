#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExecMemsetNodeSetParams, another_value) {
  Buffer out(8);
  write<uint64_t>(out, 0);
  CUgraph graph = new_graph();
  CUgraphNode node = add_fill(graph, {}, out, 1);
  CUgraphExec exec = instantiate(graph);
  CUDA_MEMSET_NODE_PARAMS params = fill_params(out.at(4), 7);
  expect_code("sets", cuGraphExecMemsetNodeSetParams(exec, node, &params, context_now()),
              CUDA_SUCCESS);
  run(exec);
  expect("there only", read<uint64_t>(out), uint64_t{7} << 32);
}

CONFORM(cuGraphExecMemsetNodeSetParams, wrong_arguments) {
  Buffer out(64);
  CUgraph graph = new_graph();
  CUgraphNode node = add_fill(graph, {}, out, 1);
  CUgraphExec exec = instantiate(graph);
  CUDA_MEMSET_NODE_PARAMS params = {out.at(), 16, 1, 4, 1, 2};
  expect_code("two rows", cuGraphExecMemsetNodeSetParams(exec, node, &params, context_now()),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphExecMemsetNodeSetParams(exec, node, nullptr, context_now()),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
