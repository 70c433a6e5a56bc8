// What surrounds every call of the driver's table: the gate that a checkpoint closes, and the note
// of a failure in the error log. Invariant: while the gate is closed and hold_calls() has returned
// true, no thread but the holder is inside of a call. Thread rule: any thread; the way in is two
// plain stores and a load, the closing side pays for the order (membarrier).
#pragma once
#include <atomic>
#include <cstdint>

#include "abi/cuda_abi.h"

namespace limen::cpu {

/// One thread's calls in progress; reused by another thread after its end.
struct CallRecord {
  std::atomic<uint32_t> depth{0};
  std::atomic<bool> taken{true};
  CallRecord* next = nullptr;
};

namespace detail {
/// Initial-exec, as every call reads it: a pointer of static thread-local storage.
extern __thread CallRecord* call_record __attribute__((tls_model("initial-exec")));
extern std::atomic<bool> calls_held;
CallRecord* make_call_record();
void wait_at_gate(CallRecord& record);
void note_failure(const char* function, CUresult result);
}  // namespace detail

/// The length of one call. Calls inside of calls (from callbacks) pass.
class CallScope {
 public:
  CallScope() : record_(detail::call_record) {
    if (!record_) record_ = detail::make_call_record();
    const uint32_t outer = record_->depth.load(std::memory_order_relaxed);
    record_->depth.store(outer + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (__builtin_expect(detail::calls_held.load(std::memory_order_relaxed), 0) && outer == 0)
      detail::wait_at_gate(*record_);
  }
  ~CallScope() {
    record_->depth.store(record_->depth.load(std::memory_order_relaxed) - 1,
                         std::memory_order_release);
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  CallRecord* record_;
};

/// Notes a failed call; what only says "not yet" is none.
inline CUresult noted(const char* function, CUresult result) {
  if (__builtin_expect(result != CUDA_SUCCESS, 0)) detail::note_failure(function, result);
  return result;
}

/// Closes the gate and waits until no other thread is inside of a call. `timeout_ms` 0: no limit.
/// False: the time was over, and the gate is open again.
bool hold_calls(unsigned timeout_ms);
void release_calls();

}  // namespace limen::cpu
