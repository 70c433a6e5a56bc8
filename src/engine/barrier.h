// The sixteen named barriers of one block under the fiber strategies, counted in threads.
// Knows which threads have arrived and which have exited; does not switch fibers: the block set
// does. Invariant: per barrier, `covered` = |arrived or exited threads|, `arrived` = arrivals as
// the hardware counts them, where a warp whose living threads have all arrived counts as 32. Thread
// rule: owned by the block's worker.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace limen::engine {

struct Fiber;

/// One phase of one named barrier.
struct Barrier {
  bool active = false;       ///< somebody has arrived in this phase
  uint32_t expected = 0;     ///< threads; 0: all of the block
  uint32_t arrived = 0;      ///< as the hardware counts
  uint32_t covered = 0;      ///< threads arrived or exited
  uint32_t predicates = 0;   ///< sum of pred_count
  Fiber* waiters = nullptr;  ///< in order of arrival
  Fiber* last_waiter = nullptr;
  std::array<uint32_t, 32> bits{};  ///< arrived threads by warp of 32
};

class BarrierSet {
 public:
  static constexpr uint32_t count = 16;

  /// Forgets everything; the block has `threads` threads.
  void start(uint32_t threads);
  /// Threads [first, first + number) arrive at barrier `id`. True: the phase is complete; the
  /// caller takes the waiters and calls finish_phase.
  bool arrive(uint32_t id, uint32_t expected, uint32_t first, uint32_t number, uint32_t predicates);
  /// Threads [first, first + number) have exited. Returns a mask of barriers that this completes.
  uint32_t exit_threads(uint32_t first, uint32_t number);
  void finish_phase(uint32_t id);
  Barrier& at(uint32_t id) { return barriers_[id]; }
  uint32_t exited() const { return exited_count_; }
  uint32_t threads() const { return threads_; }
  uint32_t exited_bits(uint32_t warp) const { return exited_[warp]; }

 private:
  bool complete(const Barrier& barrier) const;
  void count_whole_warp(Barrier& barrier, uint32_t warp, uint32_t before);
  std::array<Barrier, count> barriers_;
  std::array<uint32_t, 32> exited_{};
  uint32_t active_ = 0;  ///< mask of barriers with an open phase
  uint32_t threads_ = 0;
  uint32_t exited_count_ = 0;
};

}  // namespace limen::engine
