// When grids that launch others begin, fail and are over; see device_grid.h.
// Thread rule: as device_grid.h.
#include "drivers/cpu/device_runtime/device_grid.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace limen::cpu {

std::shared_ptr<engine::ChildGrids> child_grids_of_launch(
    Context& context, std::shared_ptr<Instance> instance, int priority,
    std::shared_ptr<LaunchEnvironment> environment) {
  auto tree = std::make_shared<LaunchTree>(context, std::move(instance), priority);
  tree->environment = std::move(environment);
  return std::make_shared<DeviceGrid>(std::move(tree), nullptr, 0);
}

std::shared_ptr<KernelState> LaunchTree::state_of(ptx::Index kernel) {
  if (auto shared = instance->program().state_of(kernel)) return shared;
  std::lock_guard lock(mutex);
  std::shared_ptr<KernelState>& state = states[kernel];
  if (!state) {
    state = std::make_shared<KernelState>();
    state->program = std::shared_ptr<Program>(instance, &instance->program());
    state->index = kernel;
  }
  return state;
}

void LaunchTree::fail() {
  std::lock_guard lock(mutex);
  failed = true;
  for (DeviceGrid* grid = first_running; grid; grid = grid->next_running_)
    __atomic_store_n(grid->cancel_, 1u, __ATOMIC_RELEASE);
}

void LaunchTree::take_launch() {
  // A GPU begins its kernels' launches while it takes more, so that few are ever pending. Here the
  // launching thread waits for the workers, which bounds the memory that launches take. In vain
  // once, only tried again after progress.
  // source: measured on an H200: 20,000 launches to a block's stream, or to be forgotten, under a
  // limit of 256: none refused.
  constexpr int most_turns = 200;
  constexpr auto turn = std::chrono::microseconds(100);
  const size_t limit = context.pending_launches.load(std::memory_order_relaxed);
  for (int turns = 0; context.pool->threads() > 1;) {
    if (context.device_launches.load(std::memory_order_relaxed) < limit) break;
    const uint64_t over = launches_over.load(std::memory_order_relaxed);
    if (vain_at.load(std::memory_order_relaxed) == over) break;
    while (launches_over.load(std::memory_order_relaxed) == over && ++turns < most_turns)
      std::this_thread::sleep_for(turn);
    if (turns >= most_turns) {
      vain_at.store(over, std::memory_order_relaxed);
      break;
    }
  }
  context.device_launches.fetch_add(1, std::memory_order_relaxed);
}

DeviceGrid::DeviceGrid(std::shared_ptr<LaunchTree> tree, std::shared_ptr<DeviceGrid> parent,
                       uint32_t depth)
    : tree_(std::move(tree)), parent_(std::move(parent)), depth_(depth) {}

DeviceGrid::~DeviceGrid() {
  // Skipped, not run: the context has failed.
  if (pending_) tree_->give_launch();
  if (counted_ && !completed_) parent_->release();
}

int DeviceGrid::priority() const {
  return tree_->priority - static_cast<int>(std::min<uint32_t>(depth_, priority_levels - 1));
}

void DeviceGrid::begin(volatile uint32_t* cancel) {
  std::lock_guard lock(tree_->mutex);
  cancel_ = cancel;
  next_running_ = tree_->first_running;
  if (next_running_) next_running_->previous_running_ = this;
  tree_->first_running = this;
  if (tree_->failed) __atomic_store_n(cancel, 1u, __ATOMIC_RELEASE);
}

void DeviceGrid::blocks_over(const engine::FaultInfo& info,
                             std::function<void(const engine::FaultInfo&)> done) {
  {
    std::lock_guard lock(tree_->mutex);
    (previous_running_ ? previous_running_->next_running_ : tree_->first_running) = next_running_;
    if (next_running_) next_running_->previous_running_ = previous_running_;
    cancel_ = nullptr;
  }
  if (std::exchange(pending_, false)) tree_->give_launch();
  if (info.kind != kernel::Fault::none) {
    // Told at once: what this grid has launched must not begin any more.
    tree_->context.kernel_failed(info);
    tree_->fail();
  }
  info_ = info;
  done_ = std::move(done);
  self_ = shared_from_this();
  release();
}

/// One piece of open work is over. Goes up the tree in a loop, because chains of tail launches may
/// be of any length.
void DeviceGrid::release() {
  std::shared_ptr<DeviceGrid> grid = shared_from_this();
  while (grid) {
    {
      std::lock_guard lock(grid->mutex_);
      if (--grid->open_ != 0) return;
    }
    if (grid->start_tail()) return;
    std::shared_ptr<DeviceGrid> parent = grid->counted_ ? grid->parent_ : nullptr;
    grid->complete();
    grid = std::move(parent);
  }
}

/// Starts the next tail launch. False: there is none, the grid is over.
bool DeviceGrid::start_tail() {
  std::unique_ptr<engine::GridSpec> tail;
  std::deque<std::unique_ptr<engine::GridSpec>> skipped;
  bool last;
  const bool failed = tree_->context.error.load(std::memory_order_acquire) != 0;
  {
    std::lock_guard lock(mutex_);
    if (failed) skipped = std::move(tails_);
    if (failed || tails_.empty()) return false;
    tail = std::move(tails_.front());
    tails_.pop_front();
    last = tails_.empty();
    open_ = 1;
  }
  if (last)
    hand_over(*tail);
  else
    static_cast<DeviceGrid&>(*tail->children).counted_ = true;
  tree_->context.pool->submit(std::move(tail));
  return true;
}

/// The last tail launch takes this grid's place with the parent, so that a chain of them holds no
/// more than its last link.
void DeviceGrid::hand_over(engine::GridSpec& tail) {
  auto& heir = static_cast<DeviceGrid&>(*tail.children);
  std::shared_ptr<DeviceGrid> self = std::move(self_);
  std::shared_ptr<DeviceGrid> parent = std::exchange(heir.parent_, std::move(parent_));
  heir.counted_ = counted_;
  tail.done = std::move(done_);
  completed_ = true;
  forget();
}

void DeviceGrid::forget() {
  prepared_.clear();
  own_streams_.clear();
  streams_.clear();
  events_.clear();
}

void DeviceGrid::complete() {
  completed_ = true;
  std::shared_ptr<DeviceGrid> self = std::move(self_);
  forget();
  if (!parent_) {
    // Who unloads the module once the grid is seen to be over finds its memory free.
    tree_->states.clear();
    tree_->instance.reset();
    tree_->environment.reset();
  }
  auto done = std::move(done_);
  if (done) done(info_);
}

}  // namespace limen::cpu
