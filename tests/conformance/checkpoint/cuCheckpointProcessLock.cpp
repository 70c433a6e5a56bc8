#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCheckpointProcessLock, holds_the_calls_of_other_threads) {
  const int pid = getpid();
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  expect_code("lock", cuCheckpointProcessLock(pid, nullptr), CUDA_SUCCESS);
  CUprocessState state = CU_PROCESS_STATE_FAILED;
  REQUIRE(cuCheckpointProcessGetState(pid, &state));
  expect("locked", state, CU_PROCESS_STATE_LOCKED);
  std::atomic<bool> returned{false};
  std::thread other([&] {
    cuCtxSetCurrent(context);
    CUdeviceptr memory = 0;
    cuMemAlloc(&memory, 64);
    returned = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  expect("a call waits", returned.load(), false);
  expect_code("locked twice", cuCheckpointProcessLock(pid, nullptr), CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(cuCheckpointProcessUnlock(pid, nullptr));
  other.join();
  expect("and goes on", returned.load(), true);
}

CONFORM(cuCheckpointProcessLock, time_out_while_work_runs) {
  const int pid = getpid();
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(memory);
  *open = 0;
  REQUIRE(launch(common_kernel("spin"), 1, 1, nullptr, memory));
  CUcheckpointLockArgs args{};
  args.timeoutMs = 50;
  expect_code("a kernel runs", cuCheckpointProcessLock(pid, &args), CUDA_ERROR_NOT_READY);
  CUprocessState state = CU_PROCESS_STATE_FAILED;
  REQUIRE(cuCheckpointProcessGetState(pid, &state));
  expect("running as before", state, CU_PROCESS_STATE_RUNNING);
  *open = 1;
  REQUIRE(cuCtxSynchronize(nullptr));
  args.timeoutMs = 5000;
  expect_code("it has ended", cuCheckpointProcessLock(pid, &args), CUDA_SUCCESS);
  REQUIRE(cuCheckpointProcessUnlock(pid, nullptr));
}

CONFORM(cuCheckpointProcessLock, wrong_arguments) {
  expect_code("no process", cuCheckpointProcessLock(0, nullptr), CUDA_ERROR_OPERATING_SYSTEM);
  expect_code("negative", cuCheckpointProcessLock(-5, nullptr), CUDA_ERROR_OPERATING_SYSTEM);
  CUcheckpointLockArgs args{};
  args.reserved0 = 1;
  expect_code("reserved field", cuCheckpointProcessLock(getpid(), &args), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
