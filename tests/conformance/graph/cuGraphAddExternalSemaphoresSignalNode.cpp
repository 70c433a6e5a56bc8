#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphAddExternalSemaphoresSignalNode, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  CUexternalSemaphore none = nullptr;
  CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS one{};
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS params = {&none, &one, 1};
  expect_code("no parameters",
              cuGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no semaphore",
              cuGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &params),
              CUDA_SUCCESS);
  params.numExtSems = 0;
  expect_code("none", cuGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &params),
              CUDA_SUCCESS);
  params = {nullptr, nullptr, 1};
  expect_code("no list", cuGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
