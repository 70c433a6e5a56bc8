#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExternalSemaphoresWaitNodeSetParams, wrong_arguments) {
  CUDA_EXT_SEM_WAIT_NODE_PARAMS params{};
  expect_code("another type",
              cuGraphExternalSemaphoresWaitNodeSetParams(add_empty(new_graph()), &params),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphExternalSemaphoresWaitNodeSetParams(nullptr, &params),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
