#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExecExternalSemaphoresWaitNodeSetParams, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode empty = add_empty(graph);
  CUgraphExec exec = instantiate(graph);
  CUDA_EXT_SEM_WAIT_NODE_PARAMS params{};
  expect_code("another type", cuGraphExecExternalSemaphoresWaitNodeSetParams(exec, empty, &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no parameters", cuGraphExecExternalSemaphoresWaitNodeSetParams(exec, empty, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
