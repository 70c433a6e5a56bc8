// Scheduler: the list of open grids by priority, the task queue, and who is awake. Submitting wakes
// at most one worker; a woken worker that leaves demand behind wakes the next two.
// Invariant: while demand and parked workers exist, some worker is searching: spinning, or woken
// and on its way to next_work. Grids are listed while they may have unclaimed blocks. Thread rule:
// everything under lock_ unless atomic; no callback is made with lock_ held.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/grid.h"
#include "engine/helpers.h"
#include "engine/lock.h"
#include "engine/worker.h"

namespace limen::engine {

struct Work {
  GridRun* grid = nullptr;
  std::function<void()> task;
};

class Scheduler {
 public:
  explicit Scheduler(const PoolOptions& options);
  ~Scheduler();

  void submit(std::unique_ptr<GridSpec> spec);
  void submit_task(std::function<void()> task, bool may_block);
  uint32_t threads() const { return thread_limit_; }

  // For workers.
  /// Waits for work. False: the pool is being destroyed and nothing is left to do.
  bool next_work(Worker& worker, Work& work);
  /// The same without waiting, for a worker with resident blocks.
  bool try_work(Worker& worker, Work& work);
  /// Gives up a reference taken by next_work or try_work.
  void leave(GridRun& grid, uint32_t worker);
  /// True when a grid more urgent than `priority` waits.
  bool has_more_urgent(int priority) const {
    return urgent_.load(std::memory_order_relaxed) < priority;
  }
  uint32_t epoch() const { return epoch_.load(std::memory_order_acquire); }
  bool nothing_open() const { return open_.load(std::memory_order_relaxed) == 0; }
  /// Workers worth having for `blocks` blocks of `cost` sixteenths of a nanosecond (0: unknown).
  uint32_t worthwhile(uint64_t blocks, uint32_t cost) const;
  void raise_desired(GridRun& grid, uint32_t workers);
  void remember_cost(uint32_t key, uint32_t cost);

 private:
  struct Wakes {
    Worker* workers[2] = {nullptr, nullptr};
    uint32_t starts = 0;
  };
  bool pick(Worker& worker, Work& work, bool has_blocks);
  bool pick_grid(Worker& worker, Work& work, bool has_blocks);
  void leave_locked(GridRun* grid, uint32_t worker);
  void join_locked(GridRun* grid, uint32_t worker);
  void unlist(GridRun* grid);
  void list(GridRun* grid);
  uint32_t demand() const;
  /// Chooses whom to wake, at most `most`; perform_wakes acts on it after the lock is free.
  Wakes plan_wakes(uint32_t most, uint32_t already_coming);
  void perform_wakes(const Wakes& wakes);
  bool start_worker();
  Worker* take_parked();
  static void wake_list(Worker* parked);
  uint32_t recall_cost(uint32_t key) const;

  AdaptiveMutex lock_;
  const uint32_t thread_limit_;
  const bool pin_;
  const size_t fiber_stack_bytes_;
  GridRun* first_ = nullptr;
  GridRun* last_ = nullptr;
  GridRun* free_ = nullptr;
  std::vector<std::unique_ptr<GridRun>> owned_;
  std::deque<std::function<void()>> tasks_;
  Worker* parked_ = nullptr;
  uint32_t parked_count_ = 0;
  uint32_t searching_ = 0;
  uint32_t started_ = 0;
  bool stopping_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
  alignas(64) std::atomic<uint32_t> epoch_{0};
  std::atomic<int> urgent_;
  std::atomic<int> submitter_core_{-1};  ///< where the latest submit from outside ran
  std::atomic<uint32_t> open_{0};        ///< listed grids + queued tasks
  alignas(64) std::array<std::atomic<uint64_t>, 1024> costs_{};
  Helpers helpers_;
};

}  // namespace limen::engine
