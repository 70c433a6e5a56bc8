#include <unistd.h>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCheckpointProcessGetState, running_at_first) {
  CUprocessState state = CU_PROCESS_STATE_FAILED;
  expect_code("own process", cuCheckpointProcessGetState(getpid(), &state), CUDA_SUCCESS);
  expect("running", state, CU_PROCESS_STATE_RUNNING);
  expect_code("no result", cuCheckpointProcessGetState(getpid(), nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no process", cuCheckpointProcessGetState(0, &state), CUDA_ERROR_OPERATING_SYSTEM);
}

}  // namespace limen::conform
