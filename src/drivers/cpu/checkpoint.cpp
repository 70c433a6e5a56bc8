// cuCheckpointProcess*: holds this process's calls, takes the contents of device memory into memory
// of the host, gives the device's pages back to the system, and brings them back.
// Other processes cannot be reached: 801 by name. Invariant: device memory is absent exactly in the
// state CHECKPOINTED. Thread rule: any thread; one at a time by `mutex`.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "drivers/cpu/call.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/suspend.h"

namespace limen::cpu {

namespace {

struct Checkpoint {
  std::mutex mutex;
  CUprocessState state = CU_PROCESS_STATE_RUNNING;
  std::vector<SuspendedMemory> memory;  ///< by device
  std::atomic<int> restore_thread{0};
};
Checkpoint& checkpoint() {
  static auto* made = new Checkpoint;
  return *made;
}

/// errors: 304 for what is no process (measured H200, driver 580.159.04), 801 for another than this
/// one.
CUresult check_process(int pid) {
  if (pid == getpid()) return CUDA_SUCCESS;
  if (pid <= 0 || (kill(pid, 0) != 0 && errno == ESRCH)) return CUDA_ERROR_OPERATING_SYSTEM;
  return report({Code::not_supported,
                 fmt::format("a checkpoint of another process ({}) than the calling one", pid),
                 ""});
}

/// Waits for the work of all contexts; false when the time is over. `end`: zero for no limit.
bool wait_for_work(std::chrono::steady_clock::time_point end) {
  const bool limited = end != std::chrono::steady_clock::time_point{};
  for (Context* context : active_contexts()) {
    while (context->busy()) {
      if (limited && std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  return true;
}

bool is_zero(const void* memory, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(memory);
  for (size_t i = 0; i < bytes; ++i)
    if (at[i]) return false;
  return true;
}

bool is_device(const CUuuid& uuid) {
  for (Device* device : driver().devices)
    if (std::memcmp(&device->uuid(), &uuid, sizeof uuid) == 0) return true;
  return false;
}

/// Every device must be named, as itself: these devices' memory cannot move to another.
CUresult check_pairs(const CUcheckpointRestoreArgs& args) {
  if (!args.gpuPairsCount) return CUDA_SUCCESS;
  if (!args.gpuPairs || args.gpuPairsCount != driver().devices.size())
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < args.gpuPairsCount; ++i) {
    const CUcheckpointGpuPair& pair = args.gpuPairs[i];
    if (!is_device(pair.oldUuid) || !is_device(pair.newUuid)) return CUDA_ERROR_INVALID_VALUE;
    if (std::memcmp(&pair.oldUuid, &pair.newUuid, sizeof pair.oldUuid))
      return report({Code::not_supported, "a restore onto another device", ""});
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuCheckpointProcessGetState(int pid, CUprocessState* state) {
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check_process(pid)) return result;
  std::lock_guard lock(checkpoint().mutex);
  *state = checkpoint().state;
  return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int* tid) {
  if (!tid) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check_process(pid)) return result;
  // CRIU lets exactly this thread run in a frozen process. It has nothing to do here before
  // another process can ask for a restore.
  static std::once_flag once;
  std::call_once(once, [] {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread([] {
      pthread_setname_np(pthread_self(), "limen-restore");
      auto& thread = checkpoint().restore_thread;
      thread.store(static_cast<int>(syscall(SYS_gettid)));
      thread.notify_all();
      for (;;) pause();
    }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  });
  checkpoint().restore_thread.wait(0);
  *tid = checkpoint().restore_thread.load();
  return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs* args) {
  if (CUresult result = check_process(pid)) return result;
  if (args && (args->reserved0 || !is_zero(args->reserved1, sizeof args->reserved1)))
    return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(checkpoint().mutex);
  if (checkpoint().state != CU_PROCESS_STATE_RUNNING) return CUDA_ERROR_ILLEGAL_STATE;
  const unsigned timeout_ms = args ? args->timeoutMs : 0;
  const auto start = std::chrono::steady_clock::now();
  if (!hold_calls(timeout_ms)) return CUDA_ERROR_NOT_READY;
  const auto end = timeout_ms ? start + std::chrono::milliseconds(timeout_ms)
                              : std::chrono::steady_clock::time_point{};
  if (!wait_for_work(end)) {
    release_calls();
    return CUDA_ERROR_NOT_READY;
  }
  checkpoint().state = CU_PROCESS_STATE_LOCKED;
  return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs* args) {
  if (CUresult result = check_process(pid)) return result;
  if (args && !is_zero(args->reserved, sizeof args->reserved)) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(checkpoint().mutex);
  if (checkpoint().state != CU_PROCESS_STATE_LOCKED) return CUDA_ERROR_ILLEGAL_STATE;
  checkpoint().memory.clear();
  for (Device* device : driver().devices) {
    SuspendedMemory taken;
    if (!device->memory().suspend(&taken)) {
      // What was taken goes back: the process stays as it was.
      for (size_t i = 0; i < checkpoint().memory.size(); ++i)
        driver().devices[i]->memory().resume(checkpoint().memory[i]);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    checkpoint().memory.push_back(std::move(taken));
  }
  checkpoint().state = CU_PROCESS_STATE_CHECKPOINTED;
  return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs* args) {
  if (CUresult result = check_process(pid)) return result;
  if (args)
    if (CUresult result = check_pairs(*args)) return result;
  std::lock_guard lock(checkpoint().mutex);
  if (checkpoint().state != CU_PROCESS_STATE_CHECKPOINTED) return CUDA_ERROR_ILLEGAL_STATE;
  for (size_t i = 0; i < checkpoint().memory.size(); ++i) {
    if (driver().devices[i]->memory().resume(checkpoint().memory[i])) continue;
    checkpoint().state = CU_PROCESS_STATE_FAILED;
    return report({Code::out_of_memory, "device memory could not be restored", ""});
  }
  checkpoint().memory.clear();
  checkpoint().state = CU_PROCESS_STATE_LOCKED;
  return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs* args) {
  if (CUresult result = check_process(pid)) return result;
  if (args && !is_zero(args->reserved, sizeof args->reserved)) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(checkpoint().mutex);
  if (checkpoint().state != CU_PROCESS_STATE_LOCKED) return CUDA_ERROR_ILLEGAL_STATE;
  checkpoint().state = CU_PROCESS_STATE_RUNNING;
  release_calls();
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
