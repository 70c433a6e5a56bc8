// Worker: one persistent thread of the pool, its contexts for running blocks, and what a stopped
// kernel leaves for the landing. The loop alternates between resident fiber blocks and other work.
// Invariant: a worker holds no lock while kernel code or a callback runs.
// Thread rule: all members belong to the thread, except wake and parked_next (Scheduler's lock).
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "engine/arena.h"
#include "engine/block_set.h"
#include "engine/fault.h"
#include "engine/grid.h"

namespace limen::engine {

class Scheduler;

/// Why generated code asked to stop; kind none: the grid was cancelled.
struct PendingFault {
  bool set = false;
  kernel::Fault kind = kernel::Fault::none;
  uint32_t thread = UINT32_MAX;  ///< linear; UINT32_MAX unknown
  uint32_t line = 0;
  uint64_t address = 0;
  std::string detail;
};

class alignas(64) Worker {
 public:
  Worker(Scheduler& scheduler, uint32_t index, size_t fiber_stack_bytes);
  ~Worker();

  /// Starts the thread on a guarded stack; `core` >= 0 pins it. False: no thread to be had.
  bool start(int core);
  void join();

  Scheduler& scheduler() { return scheduler_; }
  uint32_t index() const { return index_; }
  BlockSet& blocks() { return blocks_; }

  /// Builds the record of the fault that stopped `context`'s block. Call after a landing.
  FaultInfo take_fault(const BlockRecord& record, const kernel::BlockContext& context,
                       const Fiber* fiber);
  /// Stops the kernel this thread is in; `pending` has been filled.
  [[noreturn]] void stop_kernel();
  /// Counts `blocks` as finished and, with the last, completes the grid. True: it was the last.
  bool finish_blocks(GridRun& grid, uint64_t blocks);
  /// Tells the cost of a block; may call for more workers.
  void note_cost(GridRun& grid, uint64_t elapsed_ns, uint64_t blocks);

  /// Returns large buffers and idle stacks to the system; called when long idle.
  void give_back_memory();

  PendingFault pending;
  KernelThread thread;
  std::string text;  ///< printf's formatting buffer
  std::atomic<uint32_t> wake{0};
  Worker* parked_next = nullptr;
  bool in_done = false;     ///< a done callback runs: submits come from a worker about to be free
  GridRun* left = nullptr;  ///< grid to leave at the next visit to the scheduler
  uint32_t seen_epoch = 0;  ///< of its latest visit
  bool counted = true;      ///< already counted as searching by whoever started it

 private:
  static void* enter(void* self);
  void loop();
  void serve_blocks();
  static void nap(uint64_t wake_ns);
  void run_grid(GridRun& grid, bool once);
  void run_region(GridRun& grid, bool once);
  void run_chunk(GridRun& grid, uint64_t begin, uint64_t count);
  void run_blocks(GridRun& grid, uint64_t begin, uint64_t count);
  bool prepare_region(GridRun& grid);
  uint64_t chunk_size(const GridRun& grid, uint64_t most) const;

  Scheduler& scheduler_;
  const uint32_t index_;
  BlockSet blocks_;
  BlockRecord record_;
  kernel::BlockContext context_{};
  Landing landing_;
  Arena shared_{shared_guard_bytes}, local_, slots_;
  void* stack_ = nullptr;
  pthread_t thread_handle_{};
  uint64_t last_look_ns_ = 0;
  uint64_t last_yield_ns_ = 0;
  uint32_t rounds_ = 0;  ///< of spinning since the last sched_yield
};

/// The worker the calling thread is, or nullptr.
Worker* current_worker();

}  // namespace limen::engine
