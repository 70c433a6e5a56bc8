// Lists, wake-ups and the park; see scheduler.h.
// Thread rule: as scheduler.h.
#include "engine/scheduler.h"

#include <sched.h>

#include <algorithm>
#include <climits>

#include "engine/cores.h"

namespace limen::engine {
namespace {

// A searching worker spins before it parks, because waking a halted core costs 2 us on bare metal
// and 10 us and more in a virtual machine. It does not when it shares the core of the latest
// submitter: then it only keeps that thread from submitting more.
constexpr uint64_t spin_ns = 15'000;
constexpr int64_t idle_ns = 1'000'000'000;     // parked this long, a worker gives memory back
constexpr uint64_t worth_waking = 8'000 * 16;  // work per worker, in sixteenths of a nanosecond

/// Whether the worker may work for the partition: it does already, or there is a place left. One
/// that holds blocks of it may take more, so that grids which wait for each other go on.
bool has_place(const Partition* partition, uint32_t worker) {
  return partition == nullptr || partition->busy < partition->workers ||
         (worker < partition->uses.size() && partition->uses[worker] != 0);
}

uint32_t key_of(const GridSpec& spec) {
  const auto code = reinterpret_cast<uint64_t>(spec.code.get());
  const uint64_t threads = uint64_t{spec.block[0]} * spec.block[1] * spec.block[2];
  const uint64_t mixed = (code ^ threads << 48) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(mixed >> 32) | 1;
}

}  // namespace

Scheduler::Scheduler(const PoolOptions& options)
    : thread_limit_(options.threads != 0 ? options.threads : usable_cores()),
      pin_(options.pin),
      fiber_stack_bytes_(std::max<size_t>(options.fiber_stack_bytes, 16 * 1024)),
      urgent_(INT_MAX) {
  workers_.resize(thread_limit_);
  lock_.lock();
  ++started_;
  ++searching_;
  lock_.unlock();
  start_worker();
}

Scheduler::~Scheduler() {
  lock_.lock();
  stopping_ = true;
  Worker* parked = take_parked();
  lock_.unlock();
  epoch_.fetch_add(1, std::memory_order_release);
  wake_list(parked);
  for (uint32_t i = 0; i < thread_limit_; ++i) {
    lock_.lock();  // a worker may have been starting this one; once stopping_ is set none is begun
    Worker* worker = workers_[i].get();
    lock_.unlock();
    if (worker != nullptr) worker->join();
  }
}

/// Empties the parked list; wake_list must be called on it with the lock free.
Worker* Scheduler::take_parked() {
  Worker* parked = parked_;
  for (Worker* worker = parked; worker != nullptr; worker = worker->parked_next) ++searching_;
  parked_ = nullptr;
  parked_count_ = 0;
  return parked;
}

void Scheduler::wake_list(Worker* parked) {
  while (parked != nullptr) {
    Worker* next = parked->parked_next;
    parked->wake.store(1, std::memory_order_release);
    futex_wake_one(parked->wake);
    parked = next;
  }
}

uint32_t Scheduler::worthwhile(uint64_t blocks, uint32_t cost) const {
  const uint64_t most = std::min<uint64_t>(blocks, thread_limit_);
  if (cost == 0) return static_cast<uint32_t>(std::max<uint64_t>(1, most));
  const uint64_t by_cost = blocks >= UINT64_MAX / cost ? most : 1 + blocks * cost / worth_waking;
  return static_cast<uint32_t>(std::clamp<uint64_t>(by_cost, 1, std::max<uint64_t>(1, most)));
}

void Scheduler::remember_cost(uint32_t key, uint32_t cost) {
  if (cost != 0)
    costs_[(key >> 1) % costs_.size()].store(uint64_t{key} << 32 | cost, std::memory_order_relaxed);
}

uint32_t Scheduler::recall_cost(uint32_t key) const {
  const uint64_t entry = costs_[(key >> 1) % costs_.size()].load(std::memory_order_relaxed);
  return entry >> 32 == key ? static_cast<uint32_t>(entry) : 0;
}

// ---- Lists (lock held) -------------------------------------------------------------------------

void Scheduler::list(GridRun* grid) {
  // Behind all of the same priority: first come, first served. Looked for from both ends, because
  // grids that launch others fill the list with thousands.
  GridRun* before = last_;
  GridRun* at = first_;
  for (;;) {
    if (at == nullptr || at->priority > grid->priority) {
      before = at != nullptr ? at->before : last_;
      break;
    }
    if (before->priority <= grid->priority) {
      at = before->after;
      break;
    }
    at = at->after;
    before = before->before;
  }
  grid->before = before;
  grid->after = at;
  (before != nullptr ? before->after : first_) = grid;
  (at != nullptr ? at->before : last_) = grid;
  grid->listed = true;
  ++grid->references;
  open_.fetch_add(1, std::memory_order_relaxed);
  urgent_.store(first_->priority, std::memory_order_relaxed);
}

void Scheduler::unlist(GridRun* grid) {
  (grid->before != nullptr ? grid->before->after : first_) = grid->after;
  (grid->after != nullptr ? grid->after->before : last_) = grid->before;
  grid->listed = false;
  open_.fetch_sub(1, std::memory_order_relaxed);
  urgent_.store(first_ != nullptr ? first_->priority : INT_MAX, std::memory_order_relaxed);
  if (--grid->references == 0) {
    grid->after = free_;
    free_ = grid;
  }
}

void Scheduler::join_locked(GridRun* grid, uint32_t worker) {
  ++grid->joined;
  ++grid->references;
  Partition* partition = grid->partition.get();
  if (partition == nullptr) return;
  if (partition->uses.size() < thread_limit_) partition->uses.resize(thread_limit_);
  if (partition->uses[worker]++ == 0) ++partition->busy;
}

void Scheduler::leave_locked(GridRun* grid, uint32_t worker) {
  --grid->joined;
  Partition* partition = grid->partition.get();
  if (partition != nullptr && --partition->uses[worker] == 0) --partition->busy;
  if (grid->listed && grid->exhausted()) unlist(grid);
  if (--grid->references == 0) {
    grid->after = free_;
    free_ = grid;
  }
}

void Scheduler::leave(GridRun& grid, uint32_t worker) {
  lock_.lock();
  leave_locked(&grid, worker);
  lock_.unlock();
}

uint32_t Scheduler::demand() const {
  uint64_t total = tasks_.size();
  for (const GridRun* grid = first_; grid != nullptr && total < thread_limit_; grid = grid->after) {
    const uint32_t desired = grid->desired.load(std::memory_order_relaxed);
    if (desired <= grid->joined) continue;
    const Partition* partition = grid->partition.get();
    if (partition != nullptr && partition->busy >= partition->workers) continue;
    if (grid->fibers && grid->resident.load(std::memory_order_relaxed) >= grid->resident_limit)
      continue;
    total += std::min<uint64_t>(desired - grid->joined, grid->unclaimed());
  }
  return static_cast<uint32_t>(std::min<uint64_t>(total, thread_limit_));
}

bool Scheduler::pick_grid(Worker& worker, Work& work, bool has_blocks) {
  for (GridRun* grid = first_; grid != nullptr;) {
    GridRun* next = grid->after;
    if (grid->exhausted()) {
      unlist(grid);
    } else if (grid->joined < grid->desired.load(std::memory_order_relaxed) &&
               has_place(grid->partition.get(), worker.index()) &&
               !(grid->fibers &&
                 (grid->resident.load(std::memory_order_relaxed) >= grid->resident_limit ||
                  (has_blocks &&
                   (worker.blocks().is_joined(grid) || worker.blocks().is_full()))))) {
      join_locked(grid, worker.index());
      work.grid = grid;
      return true;
    }
    grid = next;
  }
  return false;
}

bool Scheduler::pick(Worker& worker, Work& work, bool has_blocks) {
  if (!tasks_.empty()) {
    work.task = std::move(tasks_.front());
    tasks_.pop_front();
    open_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  return pick_grid(worker, work, has_blocks);
}

// ---- Wake-ups ----------------------------------------------------------------------------------

Scheduler::Wakes Scheduler::plan_wakes(uint32_t most, uint32_t already_coming) {
  Wakes wakes;
  if (parked_ == nullptr && started_ == thread_limit_) return wakes;
  const uint32_t wanted = demand();
  const uint32_t coming = searching_ + already_coming;
  uint32_t count = wanted > coming ? std::min(wanted - coming, most) : 0;
  for (uint32_t i = 0; count != 0 && parked_ != nullptr; --count) {
    Worker* worker = parked_;
    parked_ = worker->parked_next;
    --parked_count_;
    ++searching_;
    wakes.workers[i++] = worker;
  }
  for (; count != 0 && started_ < thread_limit_ && !stopping_; --count) {
    ++started_;
    ++searching_;
    ++wakes.starts;
  }
  return wakes;
}

void Scheduler::perform_wakes(const Wakes& wakes) {
  for (Worker* worker : wakes.workers) {
    if (worker == nullptr) continue;
    worker->wake.store(1, std::memory_order_release);
    futex_wake_one(worker->wake);
  }
  for (uint32_t i = 0; i < wakes.starts; ++i) start_worker();
}

/// started_ and searching_ already count the new worker.
bool Scheduler::start_worker() {
  lock_.lock();
  uint32_t index = 0;
  while (index < thread_limit_ && workers_[index]) ++index;
  workers_[index] = std::make_unique<Worker>(*this, index, fiber_stack_bytes_);
  Worker* worker = workers_[index].get();
  // Under the lock, so that the destructor never meets a worker without its thread.
  int core = -1;
  if (pin_) {
    const std::vector<uint32_t> cores = allowed_cores();
    core = static_cast<int>(cores[index % cores.size()]);
  }
  const bool ok = worker->start(core);
  if (!ok) {
    workers_[index].reset();
    --started_;
    --searching_;
  }
  lock_.unlock();
  return ok;
}

// ---- Submitting --------------------------------------------------------------------------------

void Scheduler::submit(std::unique_ptr<GridSpec> spec) {
  const uint32_t key = key_of(*spec);
  if (spec->grid[0] == 0 || spec->grid[1] == 0 || spec->grid[2] == 0) {
    // No block would ever report the end of an empty grid.
    submit_task(
        [done = std::move(spec->done)] {
          if (done) done(FaultInfo{});
        },
        false);
    return;
  }
  lock_.lock();
  GridRun* grid = free_;
  if (grid != nullptr) {
    free_ = grid->after;
  } else {
    owned_.push_back(std::make_unique<GridRun>());
    grid = owned_.back().get();
  }
  lock_.unlock();
  grid->start(std::move(spec));
  grid->cost_key = key;
  const uint32_t cost = recall_cost(key);
  grid->block_cost.store(cost, std::memory_order_relaxed);
  grid->desired.store(worthwhile(grid->total, cost), std::memory_order_relaxed);
  Worker* self = current_worker();
  if (self == nullptr) submitter_core_.store(sched_getcpu(), std::memory_order_relaxed);
  const bool returning =
      self != nullptr && &self->scheduler() == this && self->in_done && self->blocks().empty();
  lock_.lock();
  list(grid);
  const Wakes wakes = plan_wakes(1, returning ? 1 : 0);
  lock_.unlock();
  epoch_.fetch_add(1, std::memory_order_release);
  perform_wakes(wakes);
}

void Scheduler::submit_task(std::function<void()> task, bool may_block) {
  if (!may_block) {
    lock_.lock();
    // Only when a worker is free for it: one that computes may do so for seconds.
    const uint32_t unstarted = thread_limit_ - started_;
    if (demand() < searching_ + parked_count_ + unstarted && !stopping_) {
      tasks_.push_back(std::move(task));
      open_.fetch_add(1, std::memory_order_relaxed);
      const Wakes wakes = plan_wakes(1, 0);
      lock_.unlock();
      epoch_.fetch_add(1, std::memory_order_release);
      perform_wakes(wakes);
      return;
    }
    lock_.unlock();
  }
  helpers_.submit(std::move(task));
}

void Scheduler::raise_desired(GridRun& grid, uint32_t workers) {
  lock_.lock();
  if (workers > grid.desired.load(std::memory_order_relaxed))
    grid.desired.store(workers, std::memory_order_relaxed);
  const Wakes wakes = plan_wakes(2, 0);
  lock_.unlock();
  epoch_.fetch_add(1, std::memory_order_release);
  perform_wakes(wakes);
}

// ---- Workers -----------------------------------------------------------------------------------

bool Scheduler::try_work(Worker& worker, Work& work) {
  worker.seen_epoch = epoch();
  if (worker.left == nullptr && nothing_open()) return false;
  lock_.lock();
  if (worker.left != nullptr) leave_locked(worker.left, worker.index());
  worker.left = nullptr;
  const bool found = pick(worker, work, true);
  const Wakes wakes = found ? plan_wakes(2, 0) : Wakes{};
  lock_.unlock();
  perform_wakes(wakes);
  return found;
}

bool Scheduler::next_work(Worker& worker, Work& work) {
  bool searching = worker.counted;
  worker.counted = false;
  for (bool first = true;; first = false) {
    const uint32_t seen = epoch();
    worker.seen_epoch = seen;
    lock_.lock();
    if (worker.left != nullptr) leave_locked(worker.left, worker.index());
    worker.left = nullptr;
    if (searching) --searching_;
    searching = false;
    if (pick(worker, work, false)) {
      const Wakes wakes = plan_wakes(2, 0);
      lock_.unlock();
      perform_wakes(wakes);
      return true;
    }
    if (stopping_ && first_ == nullptr && tasks_.empty()) {
      Worker* parked = take_parked();
      lock_.unlock();
      wake_list(parked);
      return false;
    }
    if (first) {
      ++searching_;
      lock_.unlock();
      searching = true;
      const uint64_t end = now_ns() + spin_ns;
      const auto shares_core = [&] {
        return submitter_core_.load(std::memory_order_relaxed) == sched_getcpu();
      };
      while (epoch() == seen) {
        for (int i = 0; i < 16 && epoch() == seen; ++i) cpu_pause();
        if (shares_core() || now_ns() > end) break;
      }
      continue;
    }
    worker.wake.store(0, std::memory_order_relaxed);
    worker.parked_next = parked_;
    parked_ = &worker;
    ++parked_count_;
    lock_.unlock();
    futex_wait(worker.wake, 0, idle_ns);
    if (worker.wake.load(std::memory_order_acquire) == 0) worker.give_back_memory();
    while (worker.wake.load(std::memory_order_acquire) == 0) futex_wait(worker.wake, 0);
    searching = true;  // counted by who woke us
    first = true;
  }
}

}  // namespace limen::engine
