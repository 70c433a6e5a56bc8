// The resident blocks of one worker under the fiber and lane strategies, and the round-robin over
// their fibers. Normally one block at a time; blocks that only spin let more of their grid in, up
// to the grid's residency limit, so a hand-written grid barrier progresses. Invariant: a fiber is
// in exactly one place: the run queue, a barrier's waiters, a pending meeting, the sleepers,
// running, or ended. live - waiting fibers of a block can still run; when that is 0 while live > 0
// the block is deadlocked, and is reported at once; the blocks of a cluster are counted together.
// Thread rule: owned by one worker.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/arena.h"
#include "engine/barrier.h"
#include "engine/cluster.h"
#include "engine/exchange.h"
#include "engine/fiber.h"
#include "engine/grid.h"

namespace limen::engine {

class Worker;

/// What BlockContext::block points at.
struct BlockRecord {
  Worker* worker = nullptr;
  GridRun* grid = nullptr;
  bool fibers = false;  ///< the record is a FiberBlock
};

struct FiberBlock : BlockRecord {
  kernel::BlockContext context{};
  kernel::WarpFn warp_fn = nullptr;
  FloatControl float_control = float_control_default;
  bool lanes = false;  ///< lane strategy
  uint32_t width = 1;  ///< threads a fiber carries
  uint32_t threads = 0;
  uint32_t live = 0;     ///< fibers that have not ended
  uint32_t waiting = 0;  ///< fibers at barriers and meetings
  uint64_t started_ns = 0;
  std::vector<Fiber*> fibers;
  Cluster* cluster = nullptr;      ///< in a grid of clusters
  ClusterBarrier cluster_barrier;  ///< of a block that is no part of one
  BarrierSet barriers;
  std::vector<WarpExchange> warps;  ///< lane strategy
  Arena shared{shared_guard_bytes}, local;

  uint32_t first_thread(const Fiber& fiber) const {
    return lanes ? fiber.context.warp * 32 + fiber.context.lane : fiber.context.warp * width;
  }
  /// Threads of the block that `fiber` carries.
  uint32_t threads_of(const Fiber& fiber) const {
    const uint32_t rest = threads - first_thread(fiber);
    return rest < width ? rest : width;
  }
  ClusterBarrier& barrier_of_cluster() {
    return cluster != nullptr ? cluster->barrier : cluster_barrier;
  }
};

class BlockSet {
 public:
  BlockSet(Worker& worker, size_t stack_bytes);
  ~BlockSet();

  enum class Slice { empty, over, stalled, sleeping };
  /// Runs fibers until all blocks are over, the time slice is, or nothing but spinning happens.
  Slice run_slice();
  /// Begins work on `grid`, whose reference the caller took for this worker. False: there are no
  /// stacks for it now.
  bool join(GridRun& grid);
  /// After `slice`: lets more blocks of grids in that may be waiting for them. True: there are new
  /// ones.
  bool admit_more(Slice slice);
  bool empty() const { return resident_ == 0; }
  bool is_joined(const GridRun* grid) const;
  uint64_t next_wake_ns() const;
  /// Smallest priority number of the resident grids.
  int most_urgent() const;
  /// With no block resident: frees the records of past blocks and the memory of idle stacks.
  void give_back_memory();
  /// Returns unused stacks to the process when some worker lacks them.
  void offer_stacks();
  bool is_full() const;

  // Services, called on a fiber.
  uint32_t barrier(Fiber& self, uint32_t id, uint32_t threads, uint32_t mode, uint32_t predicates);
  const kernel::Exchange* exchange(Fiber& self, uint32_t member, uint32_t tag, uint64_t value);
  void sleep(Fiber& self, uint64_t nanoseconds);
  /// barrier.cluster. False: the fiber's threads have arrived already, or wait without arriving.
  bool cluster_barrier(Fiber& self, bool wait);

 private:
  struct Joined {
    GridRun* grid;
    uint32_t blocks;
    uint32_t batch;        ///< blocks to let in when it next only spins
    uint64_t progress_ns;  ///< when a block of it last ended or was let in
  };
  static void run_fiber(Fiber* fiber);
  bool admit(Joined& joined);
  FiberBlock* take_block();
  Cluster* take_cluster(uint32_t blocks);
  bool start(FiberBlock& first, GridRun& grid, uint64_t linear);
  bool start_block(FiberBlock& block, GridRun& grid, uint64_t linear);
  const char* prepare_block(FiberBlock& block, const GridRun& grid, uint32_t rank, uint32_t count,
                            size_t local_bytes);
  bool has_room(const GridRun& grid, bool bonus);
  bool fit_fibers(FiberBlock& block, uint32_t count);
  void handle(Fiber& fiber);
  void handle_end(Fiber& fiber);
  void release_barrier(FiberBlock& block, uint32_t id);
  void release_meeting(FiberBlock& block, uint32_t warp, const Rendezvous& meeting, Fiber* except);
  void release_cluster_barrier(ClusterBarrier& barrier);
  void check_deadlock(FiberBlock& block);
  void release_cluster(FiberBlock& block);
  void forget_block(FiberBlock& block);
  void drop_block(FiberBlock& block);
  void block_over(FiberBlock& block);
  void release_block(FiberBlock& block);
  void wake_sleepers();
  void push(Fiber* fiber);
  Fiber* pop();

  Worker& worker_;
  const size_t usual_stack_bytes_;
  FiberPool pool_;
  std::vector<std::unique_ptr<FiberBlock>> owned_;
  std::vector<FiberBlock*> free_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::vector<Cluster*> free_clusters_;
  std::vector<Joined> joined_;
  std::vector<Fiber*> sleepers_;  ///< heap, earliest first
  std::vector<Rendezvous> met_;
  Fiber* head_ = nullptr;
  Fiber* tail_ = nullptr;
  size_t queued_ = 0;
  uint32_t resident_ = 0;
  uint64_t fruitless_ = 0;  ///< resumes in a row that ended in a yield
  bool spun_ = false;       ///< some fiber yielded in the last slice
};

/// Says which warps or lanes of `block` wait where.
std::string describe_waits(FiberBlock& block);

}  // namespace limen::engine
