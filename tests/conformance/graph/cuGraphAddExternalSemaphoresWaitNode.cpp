#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphAddExternalSemaphoresWaitNode, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  CUexternalSemaphore none = nullptr;
  CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS one{};
  CUDA_EXT_SEM_WAIT_NODE_PARAMS params = {&none, &one, 1};
  expect_code("no parameters",
              cuGraphAddExternalSemaphoresWaitNode(&node, graph, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no semaphore",
              cuGraphAddExternalSemaphoresWaitNode(&node, graph, nullptr, 0, &params),
              CUDA_SUCCESS);
  params.numExtSems = 0;
  expect_code("none", cuGraphAddExternalSemaphoresWaitNode(&node, graph, nullptr, 0, &params),
              CUDA_SUCCESS);
  params = {nullptr, nullptr, 1};
  expect_code("no list", cuGraphAddExternalSemaphoresWaitNode(&node, graph, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
