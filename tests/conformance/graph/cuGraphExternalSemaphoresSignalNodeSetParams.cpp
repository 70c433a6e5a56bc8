#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExternalSemaphoresSignalNodeSetParams, wrong_arguments) {
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS params{};
  expect_code("another type",
              cuGraphExternalSemaphoresSignalNodeSetParams(add_empty(new_graph()), &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphExternalSemaphoresSignalNodeSetParams(nullptr, &params),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
