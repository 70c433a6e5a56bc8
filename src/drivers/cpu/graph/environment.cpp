// Graph launches by kernels; see environment.h. Thread rule: as environment.h.
#include "drivers/cpu/graph/environment.h"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "drivers/cpu/device_runtime/error_codes.h"
#include "drivers/cpu/graph/run.h"

namespace limen::cpu {

namespace {

/// source: CUDA C++ Programming Guide 13.0, "Fire and Forget Launch" and "Tail Launch". The code
/// beyond them is 1: measured H200, driver 580.159.04.
constexpr uint32_t most_children = 120;
constexpr size_t most_tails = 255;

/// source: CUDA Runtime API 13.0, cudaStreamGraphTailLaunch and its siblings.
constexpr uint64_t tail_stream = uint64_t{1} << 56, child_stream = uint64_t{2} << 56,
                   sibling_stream = uint64_t{3} << 56;

int refuse(int code, const char* why) {
  log::write(log::Level::warn, fmt::format("cudaGraphLaunch in a kernel: {}", why));
  return code;
}

bool is_usable(const Plan& plan, const Context& context) {
  for (const ContextUse& in : plan.contexts)
    if (!in.alive() || &in.context->device != &context.device) return false;
  return true;
}

}  // namespace

/// Starts the environment's run. True: the run is over already, and is to be released.
bool LaunchEnvironment::begin(Run* run) {
  run->set_environment(shared_from_this());
  return run->start([self = shared_from_this()] { release(self); });
}

bool LaunchEnvironment::begin_host_launch(std::shared_ptr<Executable> executable,
                                          std::shared_ptr<Plan> plan, Run* run, int priority,
                                          std::function<void()> done) {
  enum : uint32_t { begun = 1, over = 2 };
  if (executable->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
    DeviceLaunch& launch = *executable->device_launch;
    std::lock_guard lock(launch.mutex);
    launch.plan = std::move(plan);
    ++launch.running;
  }
  auto stream = std::make_shared<LaunchEnvironment>(nullptr, nullptr, priority, 0);
  auto graph = std::make_shared<LaunchEnvironment>(stream, std::move(executable), priority, 0);
  // Whoever comes second tells the stream, so that it hears nothing inside of this call.
  auto state = std::make_shared<std::atomic<uint32_t>>(0);
  stream->done_ = [state, done = std::move(done)] {
    if (state->fetch_or(over, std::memory_order_acq_rel) & begun) done();
  };
  if (graph->begin(run)) release(std::move(graph));
  return (state->fetch_or(begun, std::memory_order_acq_rel) & over) != 0;
}

/// One piece of open work is over. Goes up, and along tail launches, in a loop: chains may be long.
void LaunchEnvironment::release(Ptr at) {
  while (at) {
    {
      std::lock_guard lock(at->mutex_);
      if (--at->open_ != 0) return;
    }
    if (!at->executable_) {
      auto done = std::move(at->done_);
      return done();
    }
    if (at->executable_->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
      std::lock_guard lock(at->executable_->device_launch->mutex);
      --at->executable_->device_launch->running;
    }
    Ptr tail = at->next_tail();
    if (!tail) {
      at = at->parent_;
      continue;
    }
    std::shared_ptr<Plan> plan;
    {
      DeviceLaunch& launch = *tail->executable_->device_launch;
      std::lock_guard lock(launch.mutex);
      launch.queued = false;
      ++launch.running;
      plan = launch.plan;
    }
    at = tail->begin(new Run(tail->executable_, std::move(plan), tail->priority_)) ? std::move(tail)
                                                                                   : nullptr;
  }
}

/// The environment that takes the place of this one, which is over.
LaunchEnvironment::Ptr LaunchEnvironment::next_tail() {
  std::lock_guard lock(mutex_);
  // What this graph launched comes before what the graphs before it did.
  tails_.insert(tails_.end(), later_.begin(), later_.end());
  if (tails_.empty()) return nullptr;
  auto next = std::make_shared<LaunchEnvironment>(parent_, tails_.front(), priority_, depth_);
  tails_.pop_front();
  next->later_ = std::move(tails_);
  return next;
}

/// Counts one more launched graph in.
int LaunchEnvironment::take_child() {
  std::lock_guard lock(mutex_);
  if (executable_ && launched_ == most_children) return invalid_value;
  ++launched_;
  ++open_;
  return success;
}

int LaunchEnvironment::add_tail(std::shared_ptr<Executable> executable) {
  std::lock_guard lock(mutex_);
  if (tails_.size() == most_tails) return invalid_value;
  tails_.push_back(std::move(executable));
  return success;
}

void LaunchEnvironment::start_child(const std::shared_ptr<Executable>& executable,
                                    std::shared_ptr<Plan> plan) {
  auto child =
      std::make_shared<LaunchEnvironment>(shared_from_this(), executable, priority_, depth_ + 1);
  if (child->begin(new Run(executable, std::move(plan), priority_))) release(std::move(child));
}

uint64_t LaunchEnvironment::current_graph_exec() const {
  const bool launchable = executable_->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  return launchable ? reinterpret_cast<uint64_t>(executable_->handle) : 0;
}

int LaunchEnvironment::launch_from_kernel(uint64_t graph_exec, uint64_t stream,
                                          const Context& context) {
  if (stream != tail_stream && stream != child_stream && stream != sibling_stream)
    return refuse(invalid_value, "not one of the streams for graphs");
  std::shared_ptr<Executable> executable;
  if (resolve_exec(reinterpret_cast<CUgraphExec>(graph_exec), &executable) != CUDA_SUCCESS)
    return refuse(invalid_value, "no executable graph");
  if (!(executable->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH))
    return refuse(invalid_value, "the graph is not instantiated for launches by kernels");
  const bool tail = stream == tail_stream;
  LaunchEnvironment& parent = stream == sibling_stream ? *parent_ : *this;
  std::shared_ptr<Plan> plan;
  {
    DeviceLaunch& launch = *executable->device_launch;
    std::lock_guard lock(launch.mutex);
    if (!launch.plan) return refuse(invalid_value, "the graph was not uploaded");
    if (!is_usable(*launch.plan, context)) return refuse(invalid_value, "of another device");
    // A graph runs once at a time, but may be the next in its own place.
    if (launch.queued || (launch.running && !(tail && executable == executable_)))
      return refuse(invalid_value, "the graph runs already, or is to");
    // Under the lock, so that the graph is claimed only if the launch is taken.
    if (int code = tail ? add_tail(executable) : parent.take_child())
      return refuse(code, "too many launches by one graph");
    if (tail)
      launch.queued = true;
    else
      ++launch.running;
    plan = launch.plan;
  }
  if (!tail) parent.start_child(executable, std::move(plan));
  return success;
}

}  // namespace limen::cpu
