// Counting of barrier.cluster; see cluster.h.
// source: PTX ISA 9.0, "barrier.cluster": arrive marks the thread and does not wait; wait waits for
// all threads of the cluster that have not exited to have arrived.
#include "engine/cluster.h"

#include "engine/fiber.h"

namespace limen::engine {

void ClusterBarrier::start(uint32_t threads) {
  threads_ = threads;
  arrived_ = exited_ = 0;
  waiters_ = last_waiter_ = nullptr;
}

bool ClusterBarrier::complete() {
  if (arrived_ == 0 || arrived_ + exited_ < threads_) return false;
  arrived_ = 0;
  ++phase_;
  return true;
}

bool ClusterBarrier::arrive(Fiber& fiber, uint32_t number) {
  fiber.cluster_arrived = true;
  fiber.cluster_phase = phase_;
  arrived_ += number;
  return complete();
}

bool ClusterBarrier::is_complete_for(const Fiber& fiber) const {
  return fiber.cluster_phase != phase_;
}

bool ClusterBarrier::exit_threads(Fiber& fiber, uint32_t number) {
  if (fiber.cluster_arrived && fiber.cluster_phase == phase_) arrived_ -= number;
  exited_ += number;
  // With nobody but exited threads there is no phase to complete, and nobody waits.
  return complete();
}

void ClusterBarrier::add_waiter(Fiber& fiber) {
  fiber.next = nullptr;
  (last_waiter_ != nullptr ? last_waiter_->next : waiters_) = &fiber;
  last_waiter_ = &fiber;
}

Fiber* ClusterBarrier::take_waiters() {
  Fiber* first = waiters_;
  waiters_ = last_waiter_ = nullptr;
  return first;
}

}  // namespace limen::engine
