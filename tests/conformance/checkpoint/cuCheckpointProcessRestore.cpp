#include <unistd.h>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCheckpointProcessRestore, leaves_the_process_locked) {
  const int pid = getpid();
  Buffer word(4);
  write<uint32_t>(word, 5);
  expect_code("not while running", cuCheckpointProcessRestore(pid, nullptr),
              CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(cuCheckpointProcessLock(pid, nullptr));
  expect_code("not while locked", cuCheckpointProcessRestore(pid, nullptr),
              CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(cuCheckpointProcessCheckpoint(pid, nullptr));
  CUcheckpointRestoreArgs args{};
  args.gpuPairsCount = 1;
  expect_code("pairs without a list", cuCheckpointProcessRestore(pid, &args),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("restore", cuCheckpointProcessRestore(pid, nullptr), CUDA_SUCCESS);
  CUprocessState state = CU_PROCESS_STATE_FAILED;
  REQUIRE(cuCheckpointProcessGetState(pid, &state));
  expect("locked", state, CU_PROCESS_STATE_LOCKED);
  REQUIRE(cuCheckpointProcessUnlock(pid, nullptr));
  expect("memory", read<uint32_t>(word), 5u);
}

}  // namespace limen::conform
