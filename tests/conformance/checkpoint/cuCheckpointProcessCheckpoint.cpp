#include <unistd.h>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCheckpointProcessCheckpoint, memory_survives) {
  const int pid = getpid();
  constexpr size_t words = 1 << 20;
  Buffer large(4 * words), small(64);
  std::vector<uint32_t> sent(words), got(words);
  for (size_t i = 0; i < words; ++i) sent[i] = static_cast<uint32_t>(i * 2654435761u);
  REQUIRE(cuMemcpyHtoD(large, sent.data(), 4 * words));
  write<uint32_t>(small.at(8), 77);
  CUfunction add = common_kernel("add");
  expect_code("not while running", cuCheckpointProcessCheckpoint(pid, nullptr),
              CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(cuCheckpointProcessLock(pid, nullptr));
  expect_code("checkpoint", cuCheckpointProcessCheckpoint(pid, nullptr), CUDA_SUCCESS);
  CUprocessState state = CU_PROCESS_STATE_FAILED;
  REQUIRE(cuCheckpointProcessGetState(pid, &state));
  expect("state", state, CU_PROCESS_STATE_CHECKPOINTED);
  expect_code("twice", cuCheckpointProcessCheckpoint(pid, nullptr), CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(cuCheckpointProcessRestore(pid, nullptr));
  REQUIRE(cuCheckpointProcessUnlock(pid, nullptr));
  REQUIRE(cuMemcpyDtoH(got.data(), large, 4 * words));
  expect_true("large block", got == sent);
  expect("small block", read<uint32_t>(small.at(8)), 77u);
  REQUIRE(launch(add, 1, 32, nullptr, small.at(8), 1u));
  expect("kernels run on", read<uint32_t>(small.at(8)), 109u);
}

CONFORM(cuCheckpointProcessCheckpoint, wrong_arguments) {
  expect_code("no process", cuCheckpointProcessCheckpoint(0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
