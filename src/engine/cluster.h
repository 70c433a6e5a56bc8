// The barrier of a cluster of blocks (barrier.cluster) and the record of a cluster: blocks that are
// resident together on one worker, share a window of shared memory and are started and finished as
// one. A block outside of clusters is a cluster of its own as far as the barrier goes.
// Invariant: arrived counts threads that arrived in this phase and have not exited; exited threads
// count as arrived in every phase. Thread rule: owned by the blocks' worker.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/arena.h"

namespace limen::engine {

struct Fiber;
struct FiberBlock;

class ClusterBarrier {
 public:
  void start(uint32_t threads);
  /// The `number` threads of `fiber` arrive. True: the phase is complete and the waiters may go on.
  bool arrive(Fiber& fiber, uint32_t number);
  /// True: the phase that `fiber` arrived in is complete; else the caller suspends it.
  bool is_complete_for(const Fiber& fiber) const;
  /// The threads of `fiber` have exited. True: this completes the phase.
  bool exit_threads(Fiber& fiber, uint32_t number);
  void add_waiter(Fiber& fiber);
  /// Takes the waiters of a completed phase, in order of arrival, linked by Fiber::next.
  Fiber* take_waiters();
  uint32_t here() const { return arrived_ + exited_; }
  uint32_t threads() const { return threads_; }

 private:
  bool complete();
  uint32_t threads_ = 0;
  uint32_t arrived_ = 0;
  uint32_t exited_ = 0;
  uint32_t phase_ = 0;
  Fiber* waiters_ = nullptr;
  Fiber* last_waiter_ = nullptr;
};

struct Cluster {
  std::vector<FiberBlock*> blocks;  ///< by rank
  uint32_t over = 0;                ///< blocks that have ended; their memory stays for the others
  ClusterBarrier barrier;
  ClusterWindow shared;
};

}  // namespace limen::engine
