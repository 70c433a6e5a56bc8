#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphDestroy, executable_graphs_live_on) {
  Buffer out(4);
  CUgraph graph = new_graph();
  add_fill(graph, {}, out, 5);
  CUgraphExec exec = instantiate(graph);
  expect_code("destroys", cuGraphDestroy(graph), CUDA_SUCCESS);
  run(exec);
  expect("value", read<uint32_t>(out), 5u);
}

CONFORM(cuGraphDestroy, wrong_arguments) {
  expect_code("no graph", cuGraphDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
