// GridRun: the engine's record of one launch: its blocks as one counter, its first fault, its
// printf text. Records are recycled by the scheduler. Invariant: spec, code and launch may be
// touched only while holding an unfinished block of the grid or before its last block is finished;
// the counters live until the last reference is gone. Thread rule: atomics by any worker; joined,
// references, listed and links under Scheduler's lock.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "devlib/kernel_abi.h"
#include "engine/engine.h"
#include "engine/lock.h"

namespace limen::engine {

class Worker;

/// Of a block's shared memory.
inline size_t shared_alignment(const kernel::KernelMeta& meta) {
  return std::max(meta.shared_align, kernel::least_shared_alignment);
}

struct GridRun {
  std::unique_ptr<GridSpec> spec;
  kernel::LaunchContext launch{};
  uint64_t total = 0;
  uint32_t block_threads = 0;
  int priority = 0;
  bool fibers = false;          ///< fiber or lane strategy
  uint32_t resident_limit = 0;  ///< blocks that may be resident over all workers
  uint32_t cluster_blocks = 1;  ///< blocks are claimed, started and finished by so many
  uint32_t fibers_per_cluster = 0;
  size_t fiber_stack_bytes = 0;  ///< of a fiber, at least; 0: the usual ones do
  bool cooperative = false;
  uint32_t cost_key = 0;
  std::shared_ptr<Partition> partition;  ///< the spec's, until the record is used again

  alignas(64) std::atomic<uint64_t> next{0};
  alignas(64) std::atomic<uint64_t> finished{0};
  std::atomic<uint32_t> resident{0};
  std::atomic<uint32_t> block_cost{0};  ///< of one block in 1/16 ns; 0 unknown
  std::atomic<uint32_t> desired{1};     ///< workers worth having on it

  uint32_t joined = 0;
  uint32_t references = 0;
  bool listed = false;
  GridRun* before = nullptr;
  GridRun* after = nullptr;

  AdaptiveMutex text_lock;
  std::string text;

  AdaptiveMutex fault_lock;
  FaultInfo fault;

  alignas(64) uint8_t workspace[64] = {};  ///< LaunchContext::workspace

  /// The multiprocessor that `worker` stands for.
  uint32_t sm_of(uint32_t worker) const {
    if (partition) return partition->sms[worker % partition->sms.size()];
    return worker % (launch.sm_count ? launch.sm_count : 1);
  }

  /// Prepares the record for `new_spec`; the scheduler's fields are left alone.
  void start(std::unique_ptr<GridSpec> new_spec);

  /// Takes up to `want` blocks; returns how many, the first in `begin`.
  uint64_t claim(uint64_t want, uint64_t& begin) {
    begin = next.fetch_add(want, std::memory_order_relaxed);
    if (begin >= total) return 0;
    return total - begin < want ? total - begin : want;
  }
  /// Tells who waits for the last block's beginning. By the worker that has claimed these blocks,
  /// outside of kernels.
  void tell_begun(uint64_t begin, uint64_t count) {
    if (begin + count >= total && spec->begun) spec->begun.reset();
  }
  /// Takes a cluster of blocks for good: they count as finished and never run. False: none is left.
  /// Called by a running block of this grid, so the grid cannot end here. Blocks of a cooperative
  /// grid have all begun as far as it can tell.
  bool take_unbegun(uint64_t& first) {
    if (cooperative || exhausted() || claim(cluster_blocks, first) == 0) return false;
    finished.fetch_add(cluster_blocks, std::memory_order_acq_rel);
    return true;
  }
  bool exhausted() const { return next.load(std::memory_order_relaxed) >= total; }
  uint64_t unclaimed() const {
    const uint64_t at = next.load(std::memory_order_relaxed);
    return at >= total ? 0 : total - at;
  }
  bool cancelled() const { return __atomic_load_n(&launch.cancel, __ATOMIC_RELAXED) != 0; }

  /// Keeps the first fault and cancels the blocks that have not begun.
  void record_fault(FaultInfo info);

  /// Appends printf text in order; hands it to the driver when much has gathered.
  void print(const char* data, size_t bytes);
  void flush_text();
};

/// Stacks that blocks beyond a worker's first may fill: three quarters of StackStore::limit().
size_t bonus_stack_limit();

/// Coordinates of block `linear` in `launch`. In a grid of clusters, blocks are counted by cluster,
/// then by rank.
void block_coordinates(const kernel::LaunchContext& launch, uint64_t linear, uint32_t out[3]);

/// Coordinates of thread `linear` in its block.
void thread_coordinates(const uint32_t block[3], uint32_t linear, uint32_t out[3]);

/// Completes `info.message` from its fields: kernel, what happened, block, thread, line.
void describe_fault(FaultInfo& info, const std::string& kernel_name, const std::string& detail);

}  // namespace limen::engine
