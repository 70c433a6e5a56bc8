#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

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
  unsigned char byte = 0;
  iovec here{&byte, 1}, there{reinterpret_cast<void*>(large.at()), 1};
  expect_true("no memory at its address", process_vm_readv(pid, &here, 1, &there, 1, 0) != 1);
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
  expect_code("no process", cuCheckpointProcessCheckpoint(0, nullptr), CUDA_ERROR_OPERATING_SYSTEM);
}

CONFORM(cuCheckpointProcessCheckpoint, while_other_threads_work) {
  const int pid = getpid();
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  CUfunction add = common_kernel("add");
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0}, rounds{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      cuCtxSetCurrent(context);
      CUstream stream = nullptr;
      wrong += cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS;
      for (uint32_t round = 0; !stop; ++round) {
        CUdeviceptr words = 0;
        uint32_t got = 0;
        bool good = cuMemAlloc(&words, 16384) == CUDA_SUCCESS &&
                    cuMemsetD32Async(words, round, 4096, stream) == CUDA_SUCCESS &&
                    launch(add, 4, 64, stream, words + 4 * 77, t) == CUDA_SUCCESS &&
                    cuMemcpyDtoHAsync(&got, words + 4 * 77, 4, stream) == CUDA_SUCCESS &&
                    cuStreamSynchronize(stream) == CUDA_SUCCESS && got == round + 256 * t;
        good = cuMemFree(words) == CUDA_SUCCESS && good;
        wrong += !good;
        ++rounds;
      }
    });
  }
  CUresult first_failure = CUDA_SUCCESS;
  auto keep = [&](CUresult code) {
    if (first_failure == CUDA_SUCCESS) first_failure = code;
  };
  // A checkpoint of an H200 takes seconds.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (int i = 0; i < 20 && (i < 2 || std::chrono::steady_clock::now() < end); ++i) {
    const int before = rounds;
    keep(cuCheckpointProcessLock(pid, nullptr));
    keep(cuCheckpointProcessCheckpoint(pid, nullptr));
    keep(cuCheckpointProcessRestore(pid, nullptr));
    keep(cuCheckpointProcessUnlock(pid, nullptr));
    while (rounds < before + 4 && first_failure == CUDA_SUCCESS)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  expect_code("every round", first_failure, CUDA_SUCCESS);
  expect("nothing was lost", wrong.load(), 0);
}

}  // namespace limen::conform
