// Turns machine faults of kernels (fault_signals: SIGSEGV and the like) into a return to a landing that
// the engine set before it entered the kernel. Claims only synchronous faults of a thread that is
// inside a kernel; everything else goes to the handler that was installed before ours.
// Invariant: between entering and leaving a kernel the thread holds no lock and no C++ resource
// that a landing would lose, except inside a HostSection, where faults are not claimed. Thread
// rule: KernelThread belongs to one worker; install_fault_handlers may be called by any.
#pragma once
#include <atomic>
#include <cstdint>

#include "engine/machine.h"

namespace limen::engine {

/// What a fault handler found.
struct MachineFault {
  int signal = 0;  ///< 0: none
  int code = 0;
  uint64_t address = 0;
  uint64_t pc = 0;
  bool in_guard = false;  ///< the stack's guard area was hit
  bool address_known = false;
};

/// The handler's view of one thread that may run kernels.
struct KernelThread {
  const Landing* landing = nullptr;
  std::atomic<bool> in_kernel{false};
  uint64_t guard_begin = 0, guard_end = 0;  ///< guard area of the stack the kernel runs on
  uint64_t stack_begin = 0, stack_end = 0;
  MachineFault fault;
  void* tsan_home = nullptr;  ///< ThreadSanitizer's name of the worker's own stack
};

/// The calling thread's record; null on threads that run no kernels. Initial-exec so that the
/// signal handler never allocates thread-local storage.
extern __thread KernelThread* kernel_thread __attribute__((tls_model("initial-exec")));

/// Puts our handlers first for the fault signals, in front of whatever is installed now. Cheap when
/// they still are: one system call, or one a signal after `full`.
void install_fault_handlers(bool full);

/// While one lives, pages that are read-only for the time being may be written to: a thread that
/// faults waits for the end and tries again. For moving memory under running kernels; whoever holds
/// one must not fault itself. thread: any number at once.
class PageMove {
 public:
  PageMove();
  ~PageMove();
  PageMove(const PageMove&) = delete;
  PageMove& operator=(const PageMove&) = delete;
};

/// Gives the calling thread an alternate signal stack and blocks all asynchronous signals.
void prepare_thread_signals();
void release_thread_signals();

/// Callbacks into the driver made from inside a kernel: a fault in there is the host's own.
class HostSection {
 public:
  HostSection() : thread_(kernel_thread) {
    was_in_kernel_ = thread_ != nullptr && thread_->in_kernel.load(std::memory_order_relaxed);
    if (was_in_kernel_) thread_->in_kernel.store(false, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~HostSection() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (was_in_kernel_) thread_->in_kernel.store(true, std::memory_order_relaxed);
  }
  HostSection(const HostSection&) = delete;
  HostSection& operator=(const HostSection&) = delete;

 private:
  KernelThread* thread_;
  bool was_in_kernel_;
};

/// Tells AddressSanitizer that the frames between `low` and this one are gone; no-op without it.
void forget_frames_below(uint64_t low);

}  // namespace limen::engine
