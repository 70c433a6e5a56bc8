// Residency, round-robin and services of the fiber strategies; see block_set.h.
// docs/design/engine_fibers.md explains residency and progress.
// Thread rule: as block_set.h.
#include "engine/block_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>

#include "engine/machine.h"
#include "engine/scheduler.h"
#include "engine/worker.h"

namespace limen::engine {
namespace {

constexpr uint64_t slice_ns = 200'000;       // between looks at other work
constexpr uint64_t fruitless_least = 64;     // yields in a row before a slice counts as stalled
// Without the end of a block for this long, more blocks are let in, since those there may wait for
// them: where nothing but spinning happens; where some spin and others go on (a block that goes
// round through its barrier until another block's flag is set); and whatever they do, since not
// every wait is known for one (a plain load between barriers).
constexpr uint64_t admit_when_stalled_ns = 50'000;
constexpr uint64_t admit_when_spinning_ns = 1'000'000;
constexpr uint64_t admit_anyhow_ns = 20'000'000;
constexpr uint32_t admit_batch_most = 16;
constexpr size_t most_kept_fibers = 1024;  // a worker keeps for its next block
constexpr size_t most_joined = 128;        // fiber grids a worker has blocks of, as an H200 runs

/// Blocks a worker takes of a grid when it joins.
uint64_t grid_share(const GridRun& grid, uint32_t workers) {
  return grid.cooperative ? (grid.total + workers - 1) / workers : 1;
}

bool wakes_later(const Fiber* a, const Fiber* b) { return a->wake_ns > b->wake_ns; }

}  // namespace

BlockSet::BlockSet(Worker& worker, size_t stack_bytes)
    : worker_(worker), usual_stack_bytes_(stack_bytes), pool_(stack_bytes, &BlockSet::run_fiber) {}

BlockSet::~BlockSet() {
  for (auto& block : owned_)
    for (Fiber* fiber : block->fibers) pool_.put(fiber);
}

void BlockSet::push(Fiber* fiber) {
  fiber->next = nullptr;
  (tail_ != nullptr ? tail_->next : head_) = fiber;
  tail_ = fiber;
  ++queued_;
}

Fiber* BlockSet::pop() {
  Fiber* fiber = head_;
  if (fiber == nullptr) return nullptr;
  head_ = fiber->next;
  if (head_ == nullptr) tail_ = nullptr;
  --queued_;
  return fiber;
}

bool BlockSet::is_full() const { return joined_.size() >= most_joined; }

bool BlockSet::is_joined(const GridRun* grid) const {
  return std::any_of(joined_.begin(), joined_.end(),
                     [&](const Joined& one) { return one.grid == grid; });
}

int BlockSet::most_urgent() const {
  int priority = INT_MAX;
  for (const Joined& one : joined_) priority = std::min(priority, one.grid->priority);
  return priority;
}

uint64_t BlockSet::next_wake_ns() const {
  return sleepers_.empty() ? UINT64_MAX : sleepers_.front()->wake_ns;
}

// ---- Blocks ------------------------------------------------------------------------------------

void BlockSet::give_back_memory() {
  free_.clear();
  owned_.clear();
  free_clusters_.clear();
  clusters_.clear();
  pool_.give_back(0, true);
  pool_.use_stacks(usual_stack_bytes_);
}

void BlockSet::offer_stacks() {
  if (!StackStore::wanted() || pool_.available() == 0) return;
  pool_.give_back(0, false);
}

/// False: no stacks now; the grid is left for later or for others.
bool BlockSet::join(GridRun& grid) {
  const bool alone = joined_.empty();
  if (grid.fiber_stack_bytes > pool_.stack_bytes()) {
    // Stacks are of one size a worker, so the blocks it holds must end first.
    if (!alone) {
      worker_.scheduler().leave(grid, worker_.index());
      return false;
    }
    pool_.use_stacks(grid.fiber_stack_bytes);
  }
  if (!has_room(grid, !alone)) {
    // Nobody else holds any: waiting would not help, and start_block says what is missing.
    if (!alone || StackStore::held() > pool_.available()) {
      StackStore::set_wanted(true);
      worker_.scheduler().leave(grid, worker_.index());
      return false;
    }
  } else if (alone && StackStore::wanted()) {
    StackStore::set_wanted(false);
  }
  joined_.push_back({&grid, 0, 1, now_ns()});
  if (!admit(joined_.back())) {
    joined_.pop_back();
    worker_.scheduler().leave(grid, worker_.index());
    return true;
  }
  // All blocks of a cooperative grid will be needed; each worker takes its share at once.
  const uint64_t share = grid_share(grid, worker_.scheduler().threads());
  for (uint64_t n = grid.cluster_blocks; n < share && is_joined(&grid) && has_room(grid, true);
       n += grid.cluster_blocks)
    if (!admit(joined_.back())) break;
  return true;
}

FiberBlock* BlockSet::take_block() {
  ++resident_;
  if (free_.empty()) {
    owned_.push_back(std::make_unique<FiberBlock>());
    return owned_.back().get();
  }
  FiberBlock* block = free_.back();
  free_.pop_back();
  return block;
}

Cluster* BlockSet::take_cluster(uint32_t blocks) {
  Cluster* cluster;
  if (free_clusters_.empty()) {
    clusters_.push_back(std::make_unique<Cluster>());
    cluster = clusters_.back().get();
  } else {
    cluster = free_clusters_.back();
    free_clusters_.pop_back();
  }
  cluster->blocks.clear();
  for (uint32_t i = 0; i < blocks; ++i) {
    cluster->blocks.push_back(take_block());
    cluster->blocks.back()->cluster = cluster;
  }
  return cluster;
}

/// Takes one more block, or one more cluster, of the grid. The caller has seen that there is room
/// for it.
bool BlockSet::admit(Joined& joined) {
  GridRun& grid = *joined.grid;
  const uint32_t size = grid.cluster_blocks;
  uint64_t linear = 0;
  if (grid.resident.fetch_add(size) + size > grid.resident_limit || grid.claim(size, linear) == 0) {
    grid.resident.fetch_sub(size);
    return false;
  }
  FiberBlock* first = size == 1 ? take_block() : take_cluster(size)->blocks[0];
  joined.blocks += size;
  grid.tell_begun(linear, size);
  if (!start(*first, grid, linear)) drop_block(*first);
  return true;
}

/// Whether one more block or cluster of the grid can have its stacks. A `bonus` block, one that a
/// worker with blocks takes, leaves a quarter of all stacks to workers without any.
bool BlockSet::has_room(const GridRun& grid, bool bonus) {
  const size_t need = grid.fibers_per_cluster;
  if (pool_.available() >= need) return true;
  const size_t missing = need - pool_.available();
  if (bonus && StackStore::held() + missing > bonus_stack_limit()) return false;
  return pool_.reserve(need);
}

/// Gives the block as many fibers as it needs, keeping those it has.
bool BlockSet::fit_fibers(FiberBlock& block, uint32_t count) {
  while (block.fibers.size() > count) {
    pool_.put(block.fibers.back());
    block.fibers.pop_back();
  }
  if (!pool_.reserve(count - block.fibers.size())) return false;
  while (block.fibers.size() < count) block.fibers.push_back(pool_.take());
  return true;
}

/// Starts the block, or all blocks of its cluster. False: the fault that says why has been
/// recorded, and what was started must be dropped.
bool BlockSet::start(FiberBlock& first, GridRun& grid, uint64_t linear) {
  Cluster* cluster = first.cluster;
  if (cluster == nullptr) return start_block(first, grid, linear);
  cluster->over = 0;
  cluster->barrier.start(grid.block_threads * grid.cluster_blocks);
  bool ok = true;
  for (uint32_t rank = 0; rank < grid.cluster_blocks; ++rank) {
    FiberBlock& block = *cluster->blocks[rank];
    block.worker = &worker_;
    block.grid = &grid;
    block.live = block.waiting = 0;
    ok = ok && start_block(block, grid, linear + rank);
  }
  return ok;
}

/// Gives the block its memory and fibers. Returns what is lacking, or nullptr.
const char* BlockSet::prepare_block(FiberBlock& block, const GridRun& grid, uint32_t rank,
                                    uint32_t count, size_t local_bytes) {
  const uint32_t bytes = grid.launch.shared_bytes;
  const size_t align = shared_alignment(grid.spec->code->meta);
  block.context.shared = block.cluster != nullptr
                             ? block.cluster->shared.get(grid.cluster_blocks, bytes, align)
                             : block.shared.get(bytes, align);
  block.context.shared_offset = rank << kernel::cluster_window_shift;
  block.context.local = block.local.get(local_bytes, 64);
  if (grid.cooperative && grid.total > most_resident_blocks(grid.spec->code->meta, block.threads))
    return "room for all blocks of a cooperative grid";
  if (block.threads > 1024 || count == 0) return "blocks of 1 to 1024 threads";
  if (block.context.shared == nullptr || block.context.local == nullptr)
    return "memory for a block";
  return fit_fibers(block, count) ? nullptr : "fiber stacks";
}

bool BlockSet::start_block(FiberBlock& block, GridRun& grid, uint64_t linear) {
  const KernelCode& code = *grid.spec->code;
  const kernel::KernelMeta& meta = code.meta;
  block.worker = &worker_;
  block.grid = &grid;
  block_coordinates(grid.launch, linear, block.context.ctaid);
  block.BlockRecord::fibers = true;
  block.context.launch = &grid.launch;
  block.context.block = static_cast<BlockRecord*>(&block);
  block.context.worker = grid.sm_of(worker_.index());
  block.context.slots = nullptr;
  block.warp_fn = code.warp_fn;
  block.float_control = float_control_of_kernel(meta.flush_denormals);
  block.lanes = meta.strategy == kernel::Strategy::lane;
  block.width = block.lanes ? 1 : std::max(1u, meta.width);
  block.threads = grid.block_threads;
  block.live = block.waiting = 0;
  block.started_ns = now_ns();
  const uint32_t count = (block.threads + block.width - 1) / block.width;
  const size_t local_bytes = size_t{meta.local_frame_bytes} * count * block.width;
  const auto rank = static_cast<uint32_t>(linear % grid.cluster_blocks);
  const char* lack = prepare_block(block, grid, rank, count, local_bytes);
  if (lack != nullptr) {
    worker_.pending = {
        true,
        kernel::Fault::out_of_resources,
        UINT32_MAX,
        0,
        0,
        fmt::format("no {}: {} fibers of {} bytes of stack, {} bytes of local memory", lack, count,
                    pool_.stack_bytes(), local_bytes)};
    grid.record_fault(worker_.take_fault(block, block.context, nullptr));
    return false;
  }
  block.barriers.start(block.threads);
  if (block.cluster == nullptr) block.cluster_barrier.start(block.threads);
  if (block.lanes) {
    block.warps.resize((block.threads + 31) / 32);
    for (uint32_t warp = 0; warp < block.warps.size(); ++warp) {
      const uint32_t lanes = std::min(32u, block.threads - warp * 32);
      block.warps[warp].start(lanes == 32 ? ~0u : (1u << lanes) - 1);
    }
  }
  block.live = count;
  for (uint32_t i = 0; i < count; ++i) {
    Fiber* fiber = block.fibers[i];
    fiber->block = &block;
    fiber->context.warp = block.lanes ? i / 32 : i;
    fiber->context.lane = block.lanes ? i % 32 : 0;
    fiber->context.fiber = fiber;
    fiber->wait = Fiber::Wait::none;
    fiber->snapshot = nullptr;
    fiber->cluster_arrived = false;
    push(fiber);
  }
  return true;
}

/// The block has ended, was dropped or never began: goes on with the grid's next block if there is
/// one, then counts this one as finished (which may complete the grid and call the driver). In a
/// cluster the last of its blocks does so for all.
void BlockSet::block_over(FiberBlock& block) {
  GridRun& grid = *block.grid;
  const uint32_t size = grid.cluster_blocks;
  if (block.cluster != nullptr && ++block.cluster->over < size) return;
  const uint64_t now = now_ns();
  fruitless_ = 0;
  auto joined = std::find_if(joined_.begin(), joined_.end(),
                             [&](const Joined& one) { return one.grid == &grid; });
  joined->progress_ns = now;
  uint64_t over = size;
  uint64_t linear = 0;
  if (grid.cancelled()) {
    over += grid.claim(grid.total, linear);
  } else {
    worker_.note_cost(grid, (now - block.started_ns) * size / std::max(1u, resident_), size);
    while (!worker_.scheduler().has_more_urgent(grid.priority) &&
           grid.claim(size, linear) == size) {
      grid.tell_begun(linear, size);
      FiberBlock& first = block.cluster != nullptr ? *block.cluster->blocks[0] : block;
      if (start(first, grid, linear)) {
        worker_.finish_blocks(grid, over);
        return;
      }
      forget_block(block);
      over += size;  // the fault has cancelled the grid
      over += grid.claim(grid.total, linear);
    }
  }
  release_cluster(block);
  grid.resident.fetch_sub(size);
  const bool last_here = (joined->blocks -= size) == 0;
  if (last_here) joined_.erase(joined);
  worker_.finish_blocks(grid, over);
  if (last_here) worker_.scheduler().leave(grid, worker_.index());
}

/// Frees the block, or all blocks of its cluster.
void BlockSet::release_cluster(FiberBlock& block) {
  Cluster* cluster = block.cluster;
  if (cluster == nullptr) {
    release_block(block);
    return;
  }
  for (FiberBlock* one : cluster->blocks) {
    one->cluster = nullptr;
    release_block(*one);
  }
  free_clusters_.push_back(cluster);
}

void BlockSet::release_block(FiberBlock& block) {
  --resident_;
  block.grid = nullptr;
  constexpr size_t kept_local_bytes = 4 << 20;
  block.local.trim(kept_local_bytes);
  // The fibers go back so that blocks of other shapes can use them.
  while (!block.fibers.empty()) {
    pool_.put(block.fibers.back());
    block.fibers.pop_back();
  }
  free_.push_back(&block);
  if (pool_.available() > most_kept_fibers) pool_.give_back(most_kept_fibers, false);
}

/// Forgets the fibers of the block, or of all blocks of its cluster, wherever they stand: others of
/// a cluster may wait for a block that is no more.
void BlockSet::forget_block(FiberBlock& block) {
  const auto hit = [&](const Fiber* fiber) {
    return fiber->block == &block ||
           (block.cluster != nullptr && fiber->block->cluster == block.cluster);
  };
  Fiber* all = head_;
  head_ = tail_ = nullptr;
  queued_ = 0;
  while (all != nullptr) {
    Fiber* fiber = all;
    all = all->next;
    if (!hit(fiber)) push(fiber);
  }
  std::erase_if(sleepers_, hit);
  std::make_heap(sleepers_.begin(), sleepers_.end(), wakes_later);
  const auto forget = [&](FiberBlock& one) {
    for (Fiber* fiber : one.fibers) pool_.reset(fiber);
    one.live = one.waiting = 0;
  };
  if (block.cluster == nullptr) return forget(block);
  for (FiberBlock* one : block.cluster->blocks) forget(*one);
  block.cluster->over = static_cast<uint32_t>(block.cluster->blocks.size()) - 1;
}

/// Ends a block whose grid was cancelled.
void BlockSet::drop_block(FiberBlock& block) {
  forget_block(block);
  block_over(block);
}

bool BlockSet::admit_more(Slice slice) {
  const uint64_t now = now_ns();
  const uint64_t after = slice != Slice::over ? admit_when_stalled_ns
                         : spun_              ? admit_when_spinning_ns
                                              : admit_anyhow_ns;
  bool any = false;
  for (size_t i = 0; i < joined_.size(); ++i) {
    if (!joined_[i].grid->cooperative && now - joined_[i].progress_ns < after) continue;
    joined_[i].progress_ns = now;
    GridRun* grid = joined_[i].grid;
    const uint32_t batch = joined_[i].batch;
    joined_[i].batch = std::min(2 * batch, admit_batch_most);
    for (uint32_t n = 0; n < batch; ++n) {
      // A block that cannot start may end the grid here and so change the list.
      if (i >= joined_.size() || joined_[i].grid != grid || !has_room(*grid, true) ||
          !admit(joined_[i]))
        break;
      any = true;
    }
  }
  return any;
}

// ---- Running -----------------------------------------------------------------------------------

/// On the fiber's stack. A fault of the kernel comes back through the mark.
void BlockSet::run_fiber(Fiber* fiber) {
  if (limen_engine_mark(&fiber->landing) == 0) {
    FiberBlock& block = *fiber->block;
    write_float_control(block.float_control);
    KernelThread* thread = kernel_thread;
    thread->in_kernel.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    block.warp_fn(&block.context, &fiber->context);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread->in_kernel.store(false, std::memory_order_relaxed);
    fiber->event = FiberEvent::ended;
  } else {
    forget_frames_below(reinterpret_cast<uint64_t>(fiber->stack));
    fiber->event = FiberEvent::faulted;
  }
}

void BlockSet::wake_sleepers() {
  const uint64_t now = now_ns();
  while (!sleepers_.empty() && sleepers_.front()->wake_ns <= now) {
    std::pop_heap(sleepers_.begin(), sleepers_.end(), wakes_later);
    push(sleepers_.back());
    sleepers_.pop_back();
  }
}

BlockSet::Slice BlockSet::run_slice() {
  const uint64_t start = now_ns();
  fruitless_ = 0;
  spun_ = false;
  if (!sleepers_.empty()) wake_sleepers();
  for (uint32_t resumes = 1;; ++resumes) {
    Fiber* fiber = pop();
    if (fiber == nullptr) {
      if (resident_ == 0) return Slice::empty;
      // Cancelled blocks must not sleep on.
      for (size_t i = 0; i < sleepers_.size(); ++i)
        if (sleepers_[i]->block->grid->cancelled()) {
          drop_block(*sleepers_[i]->block);
          break;
        }
      if (head_ != nullptr) continue;
      return resident_ == 0 ? Slice::empty : Slice::sleeping;
    }
    FiberBlock& block = *fiber->block;
    if (block.grid->cancelled()) {
      drop_block(block);
      continue;
    }
    pool_.resume(fiber);
    handle(*fiber);
    if ((resumes & 63) == 0) {
      if (!sleepers_.empty()) wake_sleepers();
      if (now_ns() - start > slice_ns) return resident_ == 0 ? Slice::empty : Slice::over;
    }
    if (fruitless_ >= fruitless_least && fruitless_ >= queued_) return Slice::stalled;
  }
}

void BlockSet::handle(Fiber& fiber) {
  FiberBlock& block = *fiber.block;
  switch (fiber.event) {
    case FiberEvent::yielded:
      ++fruitless_;
      spun_ = true;
      push(&fiber);
      break;
    case FiberEvent::sleeping:
      sleepers_.push_back(&fiber);
      std::push_heap(sleepers_.begin(), sleepers_.end(), wakes_later);
      break;
    case FiberEvent::waiting:
      fruitless_ = 0;
      check_deadlock(block);
      break;
    case FiberEvent::ended:
      fruitless_ = 0;
      handle_end(fiber);
      break;
    case FiberEvent::faulted:
      if (worker_.pending.set && worker_.pending.kind == kernel::Fault::none)
        worker_.pending = {};
      else
        block.grid->record_fault(worker_.take_fault(block, block.context, &fiber));
      drop_block(block);
      break;
  }
}

void BlockSet::handle_end(Fiber& fiber) {
  FiberBlock& block = *fiber.block;
  --block.live;
  const uint32_t first = block.first_thread(fiber);
  ClusterBarrier& cluster = block.barrier_of_cluster();
  if (cluster.exit_threads(fiber, block.threads_of(fiber))) release_cluster_barrier(cluster);
  if (block.live == 0) {
    FiberBlock* peer = block.cluster != nullptr ? block.cluster->blocks[0] : nullptr;
    const bool peers_left =
        peer != nullptr && block.cluster->over + 1 < block.cluster->blocks.size();
    block_over(block);
    if (peers_left) check_deadlock(*peer);
    return;
  }
  for (uint32_t done = block.barriers.exit_threads(first, block.width); done != 0; done &= done - 1)
    release_barrier(block, static_cast<uint32_t>(std::countr_zero(done)));
  if (block.lanes) {
    WarpExchange& warp = block.warps[fiber.context.warp];
    warp.release(fiber.snapshot);
    fiber.snapshot = nullptr;
    met_.clear();
    warp.exit_lane(fiber.context.lane, met_);
    for (const Rendezvous& meeting : met_)
      release_meeting(block, fiber.context.warp, meeting, nullptr);
  }
  check_deadlock(block);
}

/// Warp 0 goes on last, thread 0 at its end: it writes what all others read (a sum in shared[0]),
/// and code that forgets the barrier before its next write works on a GPU, where everybody has read
/// long before.
void BlockSet::release_barrier(FiberBlock& block, uint32_t id) {
  Barrier& barrier = block.barriers.at(id);
  const uint32_t sum = barrier.predicates;
  std::array<Fiber*, 32> of_warp_0;
  size_t late = 0;
  for (Fiber* waiter = barrier.waiters; waiter != nullptr;) {
    Fiber* next = waiter->next;
    waiter->result = sum;
    waiter->wait = Fiber::Wait::none;
    --block.waiting;
    if (block.first_thread(*waiter) < 32)
      of_warp_0[late++] = waiter;
    else
      push(waiter);
    waiter = next;
  }
  for (size_t i = 0; i < late; ++i)
    if (block.first_thread(*of_warp_0[i]) != 0) push(of_warp_0[i]);
  for (size_t i = 0; i < late; ++i)
    if (block.first_thread(*of_warp_0[i]) == 0) push(of_warp_0[i]);
  block.barriers.finish_phase(id);
}

void BlockSet::release_meeting(FiberBlock& block, uint32_t warp, const Rendezvous& meeting,
                               Fiber* except) {
  for (uint32_t lanes = meeting.arrived; lanes != 0; lanes &= lanes - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(lanes));
    Fiber* fiber = block.fibers[warp * 32 + lane];
    fiber->snapshot = meeting.snapshot;
    if (fiber == except) continue;
    fiber->wait = Fiber::Wait::none;
    --block.waiting;
    push(fiber);
  }
}

void BlockSet::release_cluster_barrier(ClusterBarrier& barrier) {
  for (Fiber* waiter = barrier.take_waiters(); waiter != nullptr;) {
    Fiber* next = waiter->next;
    waiter->wait = Fiber::Wait::none;
    --waiter->block->waiting;
    push(waiter);
    waiter = next;
  }
}

void BlockSet::check_deadlock(FiberBlock& block) {
  FiberBlock* stuck = &block;
  if (block.cluster == nullptr) {
    if (block.live == 0 || block.waiting != block.live) return;
  } else {
    // Only all of a cluster's fibers together are sure to wait for ever.
    for (FiberBlock* one : block.cluster->blocks) {
      if (one->waiting != one->live) return;
      if (one->live != 0) stuck = one;
    }
    if (stuck->live == 0) return;
  }
  worker_.pending = {true, kernel::Fault::deadlock, UINT32_MAX, 0, 0, describe_waits(*stuck)};
  block.grid->record_fault(worker_.take_fault(*stuck, stuck->context, nullptr));
  drop_block(block);
}

// ---- Services ----------------------------------------------------------------------------------

uint32_t BlockSet::barrier(Fiber& self, uint32_t id, uint32_t threads, uint32_t mode,
                           uint32_t predicates) {
  FiberBlock& block = *self.block;
  Barrier& barrier = block.barriers.at(id);
  if (block.barriers.arrive(id, threads, block.first_thread(self), block.width, predicates)) {
    const uint32_t sum = barrier.predicates;
    const bool others = barrier.waiters != nullptr;
    release_barrier(block, id);
    if (others && block.first_thread(self) < 32 && mode != 1) {
      push(&self);  // as release_barrier says
      FiberPool::suspend(&self, FiberEvent::waiting);
    }
    return sum;
  }
  if (mode == 1) return barrier.predicates;
  self.next = nullptr;
  (barrier.last_waiter != nullptr ? barrier.last_waiter->next : barrier.waiters) = &self;
  barrier.last_waiter = &self;
  self.wait = Fiber::Wait::barrier;
  self.wait_id = id;
  self.wait_count = threads;
  ++block.waiting;
  FiberPool::suspend(&self, FiberEvent::waiting);
  return self.result;
}

const kernel::Exchange* BlockSet::exchange(Fiber& self, uint32_t member, uint32_t tag,
                                           uint64_t value) {
  FiberBlock& block = *self.block;
  WarpExchange& warp = block.warps[self.context.warp];
  warp.release(self.snapshot);
  self.snapshot = nullptr;
  const Rendezvous meeting = warp.arrive(self.context.lane, member, tag, value);
  if (meeting.snapshot != nullptr) {
    release_meeting(block, self.context.warp, meeting, &self);
  } else {
    self.wait = Fiber::Wait::exchange;
    self.wait_id = tag;
    self.wait_count = member;
    ++block.waiting;
    FiberPool::suspend(&self, FiberEvent::waiting);
  }
  return &self.snapshot->exchange;
}

bool BlockSet::cluster_barrier(Fiber& self, bool wait) {
  FiberBlock& block = *self.block;
  ClusterBarrier& barrier = block.barrier_of_cluster();
  if (self.cluster_arrived != wait) return false;
  if (!wait) {
    if (barrier.arrive(self, block.threads_of(self))) release_cluster_barrier(barrier);
    return true;
  }
  self.cluster_arrived = false;
  if (barrier.is_complete_for(self)) return true;
  barrier.add_waiter(self);
  self.wait = Fiber::Wait::cluster;
  self.wait_id = self.wait_count = 0;
  ++block.waiting;
  FiberPool::suspend(&self, FiberEvent::waiting);
  return true;
}

void BlockSet::sleep(Fiber& self, uint64_t nanoseconds) {
  constexpr uint64_t shortest_ns = 2000;  // below, a trip through the heap costs more
  if (nanoseconds < shortest_ns) {
    FiberPool::suspend(&self, FiberEvent::yielded);
    return;
  }
  self.wake_ns = now_ns() + nanoseconds;
  FiberPool::suspend(&self, FiberEvent::sleeping);
}

// ---- The deadlock report -----------------------------------------------------------------------

std::string describe_waits(FiberBlock& block) {
  constexpr int most_groups = 8;
  std::string text;
  int groups = 0;
  for (size_t i = 0; i < block.fibers.size();) {
    const Fiber& first = *block.fibers[i];
    size_t end = i + 1;
    const auto alike = [&](const Fiber& other) {
      return other.wait == first.wait && other.wait_id == first.wait_id &&
             other.wait_count == first.wait_count &&
             (!block.lanes || other.context.warp == first.context.warp ||
              first.wait != Fiber::Wait::exchange);
    };
    while (end < block.fibers.size() && alike(*block.fibers[end])) ++end;
    const size_t begin = i;
    i = end;
    if (first.wait == Fiber::Wait::none) continue;
    if (groups++ == most_groups) return text + "; and more";
    if (!text.empty()) text += "; ";
    const char* word = block.lanes ? "thread" : "warp";
    text += end - begin == 1 ? fmt::format("{} {} waits", word, begin)
                             : fmt::format("{}s {}-{} wait", word, begin, end - 1);
    if (first.wait == Fiber::Wait::barrier) {
      const Barrier& barrier = block.barriers.at(first.wait_id);
      const uint32_t all = barrier.expected == 0 ? block.threads : barrier.expected;
      const uint32_t here = barrier.expected == 0 ? barrier.covered : barrier.arrived;
      text += fmt::format(" at barrier {} ({} of {} threads)", first.wait_id, here, all);
    } else if (first.wait == Fiber::Wait::cluster) {
      const ClusterBarrier& barrier = block.barrier_of_cluster();
      text += fmt::format(" at the cluster's barrier ({} of {} threads)", barrier.here(),
                          barrier.threads());
    } else {
      text += fmt::format(" in a warp-wide operation (kind {}, member mask {:#010x})",
                          first.wait_id, first.wait_count);
    }
  }
  return text.empty() ? "no fiber can run" : text;
}

}  // namespace limen::engine
