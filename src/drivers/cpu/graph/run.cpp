// One launch of a plan. Whoever ends a step starts its successors: kernels and long work go to the
// pool at once, short work is done on the spot afterwards, so branches run side by side and a chain
// costs its kernels' submissions only. Counters exist where branches meet; a step with one
// predecessor needs none.
// Invariant: a thread touches the run only while a step that it has not completed, or its own list
// of short steps, holds the run open: the last step completed may free it. Thread rule: any thread;
// no locks.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "base/log.h"
#include "drivers/cpu/device_runtime/device_runtime.h"
#include "drivers/cpu/graph/condition.h"
#include "drivers/cpu/graph/device_node.h"
#include "drivers/cpu/graph/run.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/stream/shared_event.h"

namespace limen::cpu {

namespace {

bool is_live_range(uint64_t first, uint64_t bytes, Use use) {
  PointerInfo info;
  return check_range(first, bytes, false, use, &info) == CUDA_SUCCESS;
}

uint64_t extent(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch, uint64_t slice) {
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

/// Memory may have been freed since the node was made; of a sparse array, its table.
bool is_live(const Transfer& job) {
  auto side = [&](const engine::TileMap* tiles, uint64_t first, uint64_t pitch, uint64_t slice,
                  Use use) {
    return tiles
               ? is_live_range(reinterpret_cast<uint64_t>(tiles), sizeof *tiles, use)
               : is_live_range(first, extent(job.width, job.height, job.depth, pitch, slice), use);
  };
  return side(job.dst_tiles, job.dst, job.dst_pitch, job.dst_slice, Use::write) &&
         side(job.src_tiles, job.src, job.src_pitch, job.src_slice, Use::read);
}

bool is_live(const Fill& job) {
  return is_live_range(job.dst, extent(job.width * job.element_bytes, job.height, 1, job.pitch, 0),
                       Use::write);
}

void fail_context(Context& context, CUresult code, const char* what) {
  int none = 0;
  if (context.error.compare_exchange_strong(none, static_cast<int>(code)))
    log::write(log::Level::error, fmt::format("graph failed (error {}): {}", unsigned{code}, what));
}

CUresult make_call(const SignalNode& node, CUstream stream) {
  return cuSignalExternalSemaphoresAsync(node.semaphores.data(), node.params.data(),
                                         static_cast<unsigned>(node.semaphores.size()), stream);
}

CUresult make_call(const WaitNode& node, CUstream stream) {
  return cuWaitExternalSemaphoresAsync(node.semaphores.data(), node.params.data(),
                                       static_cast<unsigned>(node.semaphores.size()), stream);
}

CUresult make_call(const MemOpNode& node, CUstream stream) {
  return cuStreamBatchMemOp(stream, static_cast<unsigned>(node.ops.size()),
                            const_cast<CUstreamBatchMemOpParams*>(node.ops.data()), node.flags);
}

template <typename Job>
void run_job(Context& context, const Job& job, engine::Pool* helpers) {
  if (context.error.load(std::memory_order_relaxed) || !job.bytes()) return;
  if (is_live(job))
    job.run(helpers);
  else
    fail_context(context, CUDA_ERROR_ILLEGAL_ADDRESS, "a node's memory has been freed");
}

}  // namespace

Run::Run(std::shared_ptr<Executable> executable, std::shared_ptr<Plan> plan, int priority)
    : executable_(std::move(executable)),
      plan_(std::move(plan)),
      priority_(priority),
      waits_(std::make_unique<std::atomic<uint32_t>[]>(plan_->steps.size())),
      sinks_(std::make_unique<std::atomic<uint32_t>[]>(plan_->scopes.size())) {}

void Run::bind_events() {
  for (uint32_t index : plan_->awaits) {
    const auto& step = std::get<EventStep>(*plan_->steps[index].work);
    if (!step.event->shared) {
      awaits_.push_back(step.event->latest());
      continue;
    }
    // Perhaps recorded by another process: a stream of its own waits for that.
    auto line = std::make_shared<Stream>(*step.context, Stream::Kind::non_blocking, 0);
    wait_for_shared(step.event->shared, *line);
    awaits_.push_back(line->tail());
  }
  records_.reserve(plan_->records.size());
  for (uint32_t index : plan_->records) {
    const auto& step = std::get<EventStep>(*plan_->steps[index].work);
    // A stream whose one piece of work is over when the step is; the event follows it.
    auto line = std::make_shared<Stream>(*step.context, Stream::Kind::non_blocking, 0);
    std::function<void()>& slot = records_.emplace_back();
    line->deferred(
        [&slot](std::function<void()> done) {  // called at once: the stream is idle
          slot = std::move(done);
          return false;
        },
        true);
    if (step.event->shared)
      record_shared(step.event->shared, *line);
    else
      line->record(step.event);
  }
}

bool Run::start(std::function<void()> done) {
  done_ = std::move(done);
  for (Condition* condition : plan_->conditions)
    if (condition->assign_default)
      condition->value.store(condition->default_value, std::memory_order_relaxed);
  follow_host(*plan_);
  ShortSteps list;
  if (!start_scope(0, list)) end();
  drain(list);
  if (!(state_.fetch_or(begun, std::memory_order_acq_rel) & over)) return false;
  end_memory_use(plan_->memory);
  delete this;
  return true;
}

void Run::complete(uint32_t step) {
  ShortSteps list;
  end_step(step, list);
  drain(list);
}

/// False: the scope has no steps.
bool Run::start_scope(uint32_t index, ShortSteps& list) {
  const Scope& scope = plan_->scopes[index];
  if (scope.steps.empty()) return false;
  for (uint32_t step : scope.steps)
    if (plan_->steps[step].waits > 1)
      waits_[step].store(plan_->steps[step].waits, std::memory_order_relaxed);
  sinks_[index].store(scope.sinks, std::memory_order_release);
  // The run may be gone with the last root.
  const uint32_t* roots = scope.roots.data();
  for (size_t i = 0, count = scope.roots.size(); i < count; ++i) make_ready(roots[i], list);
  return true;
}

void Run::make_ready(uint32_t index, ShortSteps& list) {
  const Step& step = plan_->steps[index];
  if (is_enabled(step) && is_over_elsewhere(step))
    start_elsewhere(index, *step.work);
  else
    list.push_back(index);
}

bool Run::is_enabled(const Step& step) {
  auto* kernel = step.work ? std::get_if<KernelStep>(step.work.get()) : nullptr;
  return kernel && kernel->device_node ? kernel->device_node->is_enabled() : step.enabled;
}

bool Run::is_over_elsewhere(const Step& step) const {
  if (!step.work) return false;
  if (auto* kernel = std::get_if<KernelStep>(step.work.get()))
    return !kernel->context->error.load(std::memory_order_relaxed);
  if (auto* copy = std::get_if<CopyStep>(step.work.get()))
    return copy->job.bytes() > quick_transfer_bytes;
  if (auto* fill = std::get_if<FillStep>(step.work.get()))
    return fill->job.bytes() > quick_transfer_bytes;
  if (auto* event = std::get_if<EventStep>(step.work.get()))
    return step.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT && !awaits_[event->slot].reached();
  return std::holds_alternative<HostStep>(*step.work) ||
         std::holds_alternative<CallStep>(*step.work);
}

void Run::start_elsewhere(uint32_t index, const StepWork& work) {
  if (auto* kernel = std::get_if<KernelStep>(&work)) return start_kernel(index, *kernel);
  if (auto* event = std::get_if<EventStep>(&work)) return start_wait(index, *event);
  if (auto* call = std::get_if<CallStep>(&work)) return start_call(index, *call);
  engine::Pool* pool = driver().pool;
  if (auto* host = std::get_if<HostStep>(&work)) {
    pool->submit_task(
        [this, index, host] {
          // Host functions of a context that has failed are not called, as in streams.
          bool failed = false;
          for (const ContextUse& in : plan_->contexts) failed |= in.context->error.load() != 0;
          if (!failed) {
            HostFunctionScope scope;
            host->function(host->data);
          }
          complete(index);
        },
        true);
  } else if (auto* copy = std::get_if<CopyStep>(&work)) {
    pool->submit_task([this, index, copy, pool] {
      run_job(*copy->context, copy->job, pool);
      complete(index);
    });
  } else if (auto* fill = std::get_if<FillStep>(&work)) {
    pool->submit_task([this, index, fill, pool] {
      run_job(*fill->context, fill->job, pool);
      complete(index);
    });
  }
}

void Run::start_kernel(uint32_t index, const KernelStep& kernel) {
  auto grid = std::make_unique<engine::GridSpec>(kernel.grid);
  Context& context = *kernel.context;
  grid->grid_id = context.next_grid_id.fetch_add(1, std::memory_order_relaxed);
  const bool own_priority = executable_->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  grid->priority = priority_levels * (own_priority ? kernel.priority : priority_);
  // As grids that kernels launch: the deeper, the more urgent.
  if (environment_)
    grid->priority -=
        static_cast<int>(std::min<uint32_t>(environment_->depth(), priority_levels - 1));
  if (kernel.device_node) kernel.device_node->apply(*grid);
  // In a graph that kernels launch a kernel may ask which one it is, whatever its program.
  if (kernel.launches || (executable_->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH))
    grid->children = child_grids_of_launch(context, kernel.instance, grid->priority, environment_);
  if (!plan_->steps[index].after_begin.empty())
    grid->begun = std::shared_ptr<void>(this, [this, index](void*) {
      ShortSteps list;
      begin_followers(index, list);
      drain(list);
    });
  // Two words: no allocation. The step is found again for the failure only.
  grid->done = [this, index](const engine::FaultInfo& fault) {
    if (fault.kind != kernel::Fault::none)
      std::get<KernelStep>(*plan_->steps[index].work).context->kernel_failed(fault);
    complete(index);
  };
  context.pool->submit(std::move(grid));
}

void Run::start_wait(uint32_t index, const EventStep& event) {
  auto line = std::make_shared<Stream>(*event.context, Stream::Kind::non_blocking, 0);
  line->wait_for(awaits_[event.slot]);
  line->task([this, index] { complete(index); }, true, false, true);
}

void Run::start_call(uint32_t index, const CallStep& call) {
  Context& context = *call.context;
  auto stream = reinterpret_cast<CUstream>(call.stream.get());
  CUresult result = CUDA_SUCCESS;
  if (!context.error.load(std::memory_order_relaxed))
    result = std::visit([stream](const auto& node) { return make_call(node, stream); }, call.call);
  if (result != CUDA_SUCCESS)
    fail_context(context, result, "a semaphore or memory operation node was refused");
  // `call` may be gone once its step is complete.
  std::shared_ptr<Stream> line = call.stream->stream;
  line->task([this, index] { complete(index); }, true, false, true);
}

/// Short work, on this thread.
void Run::do_here(uint32_t index, ShortSteps& list) {
  const Step& step = plan_->steps[index];
  if (step.work && step.enabled) {
    if (auto* copy = std::get_if<CopyStep>(step.work.get()))
      run_job(*copy->context, copy->job, nullptr);
    else if (auto* fill = std::get_if<FillStep>(step.work.get()))
      run_job(*fill->context, fill->job, nullptr);
    else if (std::holds_alternative<ConditionStep>(*step.work))
      return decide(index, list, true);
    else if (auto* event = std::get_if<EventStep>(step.work.get());
             event && step.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
      records_[event->slot]();
  }
  begin_followers(index, list);
  end_step(index, list);
}

/// The step has begun: so may those that wait for no more than that.
void Run::begin_followers(uint32_t index, ShortSteps& list) {
  // The run may be gone with the last of them.
  const std::vector<uint32_t>& followers = plan_->steps[index].after_begin;
  const uint32_t* next = followers.data();
  for (size_t i = 0, count = followers.size(); i < count; ++i) pass(next[i], list);
}

/// One of the things that a step waits for has happened.
void Run::pass(uint32_t to, ShortSteps& list) {
  if (plan_->steps[to].waits == 1 || waits_[to].fetch_sub(1, std::memory_order_acq_rel) == 1)
    make_ready(to, list);
}

void Run::drain(ShortSteps& list) {
  while (!list.empty()) {
    const uint32_t index = list.back();
    list.pop_back();
    do_here(index, list);
  }
}

void Run::end_step(uint32_t index, ShortSteps& list) {
  const Step& step = plan_->steps[index];
  // The run may be gone with the last successor: nothing of it is read after that.
  const uint32_t* next = step.next.data();
  const size_t count = step.next.size();
  if (count == 0) return end_sink(step.scope, list);
  for (size_t i = 0; i < count; ++i) pass(next[i], list);
}

void Run::end_sink(uint32_t scope, ShortSteps& list) {
  if (sinks_[scope].fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (scope == 0)
    end();
  else
    decide(plan_->scopes[scope].owner, list, false);
}

/// Which body of a conditional node runs next, if any. `first`: the node was just reached.
void Run::decide(uint32_t index, ShortSteps& list, bool first) {
  const auto& step = std::get<ConditionStep>(*plan_->steps[index].work);
  for (;; first = false) {
    const unsigned value = step.condition->value.load(std::memory_order_acquire);
    uint32_t body = UINT32_MAX;
    if (step.context->error.load(std::memory_order_relaxed)) {
      // Nothing sets a condition any more: a loop would never end.
    } else if (step.type == CU_GRAPH_COND_TYPE_WHILE) {
      if (value) body = 0;
    } else if (first) {
      body = step.type == CU_GRAPH_COND_TYPE_IF ? (value ? 0 : 1) : value;
    }
    if (body >= step.bodies.size()) return end_step(index, list);
    if (start_scope(step.bodies[body], list)) return;
  }
}

void Run::end() {
  // What begins next may want the memory, and may be seen by the program, at once.
  if (!(state_.fetch_or(over, std::memory_order_acq_rel) & begun)) return;
  const std::function<void()> done = std::move(done_);
  end_memory_use(plan_->memory);
  delete this;
  done();
}

void set_condition(uint64_t handle, unsigned value) {
  if (Condition* condition = driver().conditions.resolve(reinterpret_cast<const void*>(handle)))
    condition->value.store(value, std::memory_order_release);
}

void run_plan(const std::shared_ptr<Executable>& executable, const std::shared_ptr<Plan>& plan,
              Stream& stream) {
  auto* run = new Run(executable, plan, stream.priority());
  run->bind_events();
  if (!plan->launches && !(executable->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)) {
    stream.deferred([run](std::function<void()> done) { return run->start(std::move(done)); },
                    true);
    return;
  }
  stream.deferred(
      [run, executable, plan, priority = stream.priority()](std::function<void()> done) {
        return LaunchEnvironment::begin_host_launch(executable, plan, run, priority,
                                                    std::move(done));
      },
      true);
}

}  // namespace limen::cpu
