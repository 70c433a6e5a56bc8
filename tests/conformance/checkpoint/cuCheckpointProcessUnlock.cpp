#include <unistd.h>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCheckpointProcessUnlock, needs_the_locked_state) {
  const int pid = getpid();
  expect_code("not while running", cuCheckpointProcessUnlock(pid, nullptr),
              CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(cuCheckpointProcessLock(pid, nullptr));
  expect_code("unlock", cuCheckpointProcessUnlock(pid, nullptr), CUDA_SUCCESS);
  CUprocessState state = CU_PROCESS_STATE_FAILED;
  REQUIRE(cuCheckpointProcessGetState(pid, &state));
  expect("running", state, CU_PROCESS_STATE_RUNNING);
  CUdeviceptr memory = 0;
  REQUIRE(cuMemAlloc(&memory, 64));
  expect_true("calls pass", memory != 0);
  REQUIRE(cuCheckpointProcessLock(pid, nullptr));
  REQUIRE(cuCheckpointProcessCheckpoint(pid, nullptr));
  expect_code("not while checkpointed", cuCheckpointProcessUnlock(pid, nullptr),
              CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(cuCheckpointProcessRestore(pid, nullptr));
  REQUIRE(cuCheckpointProcessUnlock(pid, nullptr));
}

}  // namespace limen::conform
