// Signal: a rising 64-bit counter that host threads can wait on. Raising it costs one store and one
// load while nobody sleeps. Does not order anything but itself and what was written before raise().
// Invariant: the value never falls. Thread rule: one raiser at a time, any number of waiters.
#pragma once
#include <atomic>
#include <cstdint>

namespace limen::cpu {

/// How a host thread waits, from the context's CU_CTX_SCHED_* flags.
enum class WaitPolicy : uint8_t { automatic, spin, yield, block };

class Signal {
 public:
  uint64_t value() const { return value_.load(std::memory_order_acquire); }
  bool reached(uint64_t target) const { return value() >= target; }
  void raise(uint64_t value) {
    value_.store(value, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst)) wake();
  }
  /// Returns once value() >= target.
  void wait(uint64_t target, WaitPolicy policy);

 private:
  void wake();
  void sleep_until(uint64_t target);

  std::atomic<uint64_t> value_{0};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> epoch_{0};
};

}  // namespace limen::cpu
