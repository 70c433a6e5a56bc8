// Named barriers by thread count; see barrier.h.
// source: PTX ISA 9.0, "barrier{.cta}" (arrival count grows by the warp size; operand b is a number
// of threads, a multiple of the warp size; without b all threads of the block take part).
#include "engine/barrier.h"

#include <algorithm>
#include <bit>

namespace limen::engine {
namespace {

/// Bits of threads [first, end) that lie in warp `warp`.
uint32_t warp_bits(uint32_t first, uint32_t end, uint32_t warp) {
  const uint32_t low = std::max(first, warp * 32);
  const uint32_t high = std::min(end, warp * 32 + 32);
  if (low >= high) return 0;
  const uint32_t number = high - low;
  const uint32_t ones = number == 32 ? ~0u : (1u << number) - 1;
  return ones << (low % 32);
}

/// popcount with the usual cases first: without -mpopcnt the compiler calls a library function.
uint32_t count_bits(uint32_t bits) {
  if (bits == ~0u) return 32;
  if ((bits & (bits - 1)) == 0) return bits != 0 ? 1 : 0;
  return static_cast<uint32_t>(std::popcount(bits));
}

}  // namespace

void BarrierSet::start(uint32_t threads) {
  while (active_ != 0) finish_phase(static_cast<uint32_t>(std::countr_zero(active_)));
  threads_ = threads;
  exited_count_ = 0;
  exited_.fill(0);
  // Slots that no thread of the block fills count as exited for the arithmetic of whole warps.
  for (uint32_t warp = threads / 32; warp < 32; ++warp)
    exited_[warp] = warp_bits(threads, 1024, warp);
}

void BarrierSet::finish_phase(uint32_t id) {
  Barrier& barrier = barriers_[id];
  barrier.active = false;
  barrier.arrived = barrier.covered = barrier.predicates = 0;
  barrier.waiters = barrier.last_waiter = nullptr;
  std::fill_n(barrier.bits.begin(), (threads_ + 31) / 32, 0u);
  active_ &= ~(1u << id);
}

bool BarrierSet::complete(const Barrier& barrier) const {
  return barrier.expected == 0 ? barrier.covered >= threads_ : barrier.arrived >= barrier.expected;
}

void BarrierSet::count_whole_warp(Barrier& barrier, uint32_t warp, uint32_t before) {
  const uint32_t bits = barrier.bits[warp];
  if (bits != 0 && (bits | exited_[warp]) == ~0u && before != ~0u)
    barrier.arrived += 32 - count_bits(bits);
}

bool BarrierSet::arrive(uint32_t id, uint32_t expected, uint32_t first, uint32_t number,
                        uint32_t predicates) {
  Barrier& barrier = barriers_[id];
  if (!barrier.active) {
    barrier.active = true;
    barrier.expected = expected;
    barrier.covered = exited_count_;
    active_ |= 1u << id;
  }
  barrier.predicates += predicates;
  const uint32_t end = std::min(first + number, threads_);
  for (uint32_t warp = first / 32; warp * 32 < end; ++warp) {
    const uint32_t bits = warp_bits(first, end, warp);
    const uint32_t before = barrier.bits[warp] | exited_[warp];
    barrier.bits[warp] |= bits;
    barrier.covered += count_bits(bits & ~before);
    barrier.arrived += count_bits(bits);
    count_whole_warp(barrier, warp, before);
  }
  return complete(barrier);
}

uint32_t BarrierSet::exit_threads(uint32_t first, uint32_t number) {
  const uint32_t end = std::min(first + number, threads_);
  uint32_t completed = 0;
  for (uint32_t warp = first / 32; warp * 32 < end; ++warp) {
    const uint32_t bits = warp_bits(first, end, warp) & ~exited_[warp];
    for (uint32_t open = active_; open != 0; open &= open - 1) {
      Barrier& barrier = barriers_[std::countr_zero(open)];
      const uint32_t before = barrier.bits[warp] | exited_[warp];
      barrier.covered += count_bits(bits & ~before);
      exited_[warp] |= bits;
      count_whole_warp(barrier, warp, before);
      exited_[warp] &= ~bits;
    }
    exited_[warp] |= bits;
    exited_count_ += count_bits(bits);
  }
  for (uint32_t open = active_; open != 0; open &= open - 1) {
    const auto id = static_cast<uint32_t>(std::countr_zero(open));
    if (complete(barriers_[id])) completed |= 1u << id;
  }
  return completed;
}

}  // namespace limen::engine
