#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphMemsetNodeSetParams, changes_the_next_instance) {
  Buffer out(8);
  write<uint64_t>(out, 0);
  CUgraph graph = new_graph();
  CUgraphNode node = add_fill(graph, {}, out, 1);
  CUDA_MEMSET_NODE_PARAMS params = fill_params(out.at(4), 2);
  expect_code("sets", cuGraphMemsetNodeSetParams(node, &params), CUDA_SUCCESS);
  run(graph);
  expect("only the new one", read<uint64_t>(out), 0x0000000200000000u);
}

CONFORM(cuGraphMemsetNodeSetParams, wrong_arguments) {
  Buffer out(8);
  CUgraph graph = new_graph();
  CUgraphNode node = add_fill(graph, {}, out, 1);
  CUDA_MEMSET_NODE_PARAMS params = fill_params(0, 2);
  expect_code("null", cuGraphMemsetNodeSetParams(node, &params), CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphMemsetNodeSetParams(node, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
