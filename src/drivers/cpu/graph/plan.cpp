// From a graph to a plan. Steps of a graph and of its child graphs are numbered in the order in
// which the nodes were added; bodies follow as scopes. Thread rule: as graph.h.
#include "drivers/cpu/graph/plan.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "drivers/cpu/device_runtime/device_runtime.h"
#include "drivers/cpu/module/module.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

CUresult code_of(const KernelNode& node, const LaunchForm& form,
                 std::shared_ptr<const engine::KernelCode>* code) {
  auto version = node.state->program->version(node.state->index, node.shape.block,
                                              is_small(node.shape), form.residency);
  if (!version.ok()) {
    Error error = version.error();
    error.what = fmt::format("cannot launch {}: {}", node.state->function().name, error.what);
    return report(error);
  }
  *code = std::move(*version);
  return CUDA_SUCCESS;
}

CUresult make_kernel(const KernelNode& node, KernelStep* out) {
  if (!node.in.alive()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  LaunchOptions options;
  LaunchForm form;
  if (CUresult result = options_of(node, &options)) return result;
  if (CUresult result =
          check_launch(node.shape, *node.state, node.in.context->device, options, nullptr, &form))
    return result;
  out->context = node.in.context;
  out->priority = std::min(std::max(options.priority, greatest_priority), least_priority);
  out->grid.params = node.bytes;
  if (CUresult result = code_of(node, form, &out->grid.code)) return result;
  out->instance = node.instance;
  out->launches = node.instance->program().launches_grids();
  out->device_node = node.device_node;
  return fill_grid(out->grid, node.shape, form, options, *node.in.context, *node.state,
                   node.instance);
}

/// A stream that only one step knows.
CUresult make_call_stream(const ContextUse& in, std::shared_ptr<StreamHandle>* out) {
  if (!in.alive()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  StreamHandle* made = make_stream(*in.context, Stream::Kind::non_blocking, 0, 0);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = std::shared_ptr<StreamHandle>(made, [in](StreamHandle* stream) {
    if (in.alive() && driver().streams.resolve(stream)) retire_own_stream(stream);
  });
  return CUDA_SUCCESS;
}

template <typename Node>
CUresult make_call(const Node& node, CallStep* out) {
  out->context = node.in.context;
  out->call = node;
  return make_call_stream(node.in, &out->stream);
}

/// Lays one graph's steps out; called again for child graphs and bodies.
class Planner {
 public:
  Planner(Plan& plan, PlanFailure& failure) : plan_(plan), failure_(failure) {}

  bool lay_out(Graph& graph, uint32_t scope) {
    if (!has_no_cycle(graph)) return false;
    for (GraphNode* node : graph.nodes)
      if (!lay_out(*node, scope)) return false;
    for (GraphNode* node : graph.nodes)
      for (const GraphEdge& edge : node->out) {
        // Programmatic edges are full dependencies: griddepcontrol.wait does not wait here.
        if (edge.data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER &&
            edge.data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT)
          plan_.steps[node->step].after_begin.push_back(edge.node->step);
        else
          follow(exit_of(*node), edge.node->step);
      }
    return true;
  }

  void finish() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      Step& step = plan_.steps[i];
      // Two edges between the same nodes are one order.
      for (std::vector<uint32_t>* list : {&step.next, &step.after_begin}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
        for (uint32_t next : *list) ++plan_.steps[next].waits;
      }
      plan_.scopes[step.scope].steps.push_back(static_cast<uint32_t>(i));
      if (step.next.empty()) ++plan_.scopes[step.scope].sinks;
    }
    for (Scope& scope : plan_.scopes)
      for (uint32_t step : scope.steps)
        if (!plan_.steps[step].waits) scope.roots.push_back(step);
  }

 private:
  void follow(uint32_t from, uint32_t to) { plan_.steps[from].next.push_back(to); }

  /// A child graph's last step comes right after what it holds.
  uint32_t exit_of(const GraphNode& node) const {
    auto found = exits_.find(&node);
    return found == exits_.end() ? node.step : found->second;
  }

  uint32_t add_step(CUgraphNodeType type, uint32_t scope) {
    Step step;
    step.type = type;
    step.scope = scope;
    plan_.steps.push_back(std::move(step));
    return static_cast<uint32_t>(plan_.steps.size() - 1);
  }

  bool fail(const GraphNode& node, CUresult code, CUgraphInstantiateResult why) {
    failure_ = {code, why, node.origin};
    return false;
  }

  bool has_no_cycle(const Graph& graph) {
    std::map<const GraphNode*, size_t> waits;
    std::vector<const GraphNode*> ready;
    for (const GraphNode* node : graph.nodes)
      if (!(waits[node] = node->in.size())) ready.push_back(node);
    size_t seen = 0;
    while (!ready.empty()) {
      const GraphNode* node = ready.back();
      ready.pop_back();
      ++seen;
      for (const GraphEdge& edge : node->out)
        if (!--waits[edge.node]) ready.push_back(edge.node);
    }
    if (seen == graph.nodes.size()) return true;
    for (const GraphNode* node : graph.nodes)
      if (waits[node])
        return fail(*node, CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    return true;
  }

  bool lay_out(GraphNode& node, uint32_t scope) {
    node.step = add_step(node.type, scope);
    if (auto* child = std::get_if<ChildNode>(&node.work)) return lay_out_child(node, *child, scope);
    if (auto* conditional = std::get_if<ConditionalNode>(&node.work))
      return lay_out_bodies(node, *conditional);
    std::shared_ptr<const StepWork> work;
    if (CUresult result = make_step_work(node, plan_, &work))
      return fail(node, result, CUDA_GRAPH_INSTANTIATE_ERROR);
    if (node.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) plan_.records.push_back(node.step);
    if (node.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) plan_.awaits.push_back(node.step);
    if (auto* kernel = std::get_if<KernelStep>(work.get())) {
      plan_.launches |= kernel->launches;
      if (kernel->device_node) plan_.updatable.push_back(node.step);
    }
    plan_.steps[node.step].work = std::move(work);
    note_use(node);
    return true;
  }

  bool lay_out_child(GraphNode& node, ChildNode& child, uint32_t scope) {
    if (!lay_out(*child.graph, scope)) return false;
    const uint32_t leave = add_step(CU_GRAPH_NODE_TYPE_EMPTY, scope);
    exits_[&node] = leave;
    follow(node.step, leave);
    for (GraphNode* inner : child.graph->nodes) {
      if (inner->in.empty()) follow(node.step, inner->step);
      if (inner->out.empty()) follow(exit_of(*inner), leave);
    }
    return true;
  }

  bool lay_out_bodies(GraphNode& node, const ConditionalNode& conditional) {
    ConditionStep step;
    step.condition = conditional.condition;
    step.context = conditional.in.context;
    step.type = conditional.type;
    for (CUgraph handle : conditional.bodies) {
      const auto scope = static_cast<uint32_t>(plan_.scopes.size());
      plan_.scopes.emplace_back().owner = node.step;
      step.bodies.push_back(scope);
      if (!lay_out(*reinterpret_cast<Graph*>(handle), scope)) return false;
    }
    plan_.steps[node.step].work = std::make_shared<const StepWork>(std::move(step));
    note_context(conditional.in);
    plan_.conditions.push_back(conditional.condition);
    return true;
  }

  void note_context(const ContextUse& in) {
    for (const ContextUse& known : plan_.contexts)
      if (known.context == in.context) return;
    plan_.contexts.push_back(in);
  }

  void note_use(const GraphNode& node) {
    std::visit(
        [this](const auto& work) {
          if constexpr (requires { work.in; }) note_context(work.in);
        },
        node.work);
    if (auto* alloc = std::get_if<AllocNode>(&node.work))
      plan_.memory.kept.push_back(alloc->memory);
    if (auto* free = std::get_if<FreeNode>(&node.work)) plan_.memory.freed.push_back(free->memory);
  }

  Plan& plan_;
  PlanFailure& failure_;
  std::map<const GraphNode*, uint32_t> exits_;
};

/// What is allocated and freed in one graph is neither kept nor freed for others.
void sort_memory(GraphMemoryUse& use) {
  for (auto freed = use.freed.begin(); freed != use.freed.end();) {
    auto kept = std::find(use.kept.begin(), use.kept.end(), *freed);
    if (kept == use.kept.end()) {
      ++freed;
      continue;
    }
    use.inside.push_back(*kept);
    use.kept.erase(kept);
    freed = use.freed.erase(freed);
  }
}

}  // namespace

uint64_t next_step_version() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

struct CompileList {
  struct Entry {
    std::shared_ptr<KernelState> state;
    LaunchShape shape;
    jit::Residency residency;
  };
  std::vector<Entry> entries;
};

static void list_kernels(const Graph& graph, CompileList* out) {
  for (const GraphNode* node : graph.nodes) {
    if (auto* child = std::get_if<ChildNode>(&node->work)) list_kernels(*child->graph, out);
    if (auto* conditional = std::get_if<ConditionalNode>(&node->work))
      for (CUgraph body : conditional->bodies) list_kernels(*reinterpret_cast<Graph*>(body), out);
    auto* kernel = std::get_if<KernelNode>(&node->work);
    if (!kernel || !kernel->in.alive()) continue;
    LaunchOptions options;
    LaunchForm form;
    if (options_of(*kernel, &options) == CUDA_SUCCESS &&
        check_launch(kernel->shape, *kernel->state, kernel->in.context->device, options, nullptr,
                     &form) == CUDA_SUCCESS)
      out->entries.push_back({kernel->state, kernel->shape, form.residency});
  }
}

std::shared_ptr<CompileList> list_kernels(const Graph& graph) {
  auto list = std::make_shared<CompileList>();
  list_kernels(graph, list.get());
  return list;
}

void compile_kernels(const CompileList& list) {
  // A failure is met again, and told, when the plan is made.
  for (const auto& [state, shape, residency] : list.entries)
    (void)state->program->version(state->index, shape.block, is_small(shape), residency);
}

CUresult make_step_work(const GraphNode& node, const Plan& plan,
                        std::shared_ptr<const StepWork>* out) {
  StepWork work;
  if (auto* kernel = std::get_if<KernelNode>(&node.work)) {
    if (CUresult result = make_kernel(*kernel, &work.emplace<KernelStep>())) return result;
  } else if (auto* copy = std::get_if<CopyNode>(&node.work)) {
    work = CopyStep{copy->in.context, copy->job};
  } else if (auto* fill = std::get_if<FillNode>(&node.work)) {
    work = FillStep{fill->in.context, fill->job};
  } else if (auto* host = std::get_if<HostNode>(&node.work)) {
    work = HostStep{host->params.fn, host->params.userData};
  } else if (auto* event = std::get_if<EventNode>(&node.work)) {
    const bool record = node.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    const auto& table = record ? plan.records : plan.awaits;
    // A step that is made again keeps its place in the table.
    auto at = std::find(table.begin(), table.end(), node.step);
    work = EventStep{event->state, event->in.context, static_cast<uint32_t>(at - table.begin()),
                     event->event};
  } else if (auto* signal = std::get_if<SignalNode>(&node.work)) {
    if (CUresult result = make_call(*signal, &work.emplace<CallStep>())) return result;
  } else if (auto* wait = std::get_if<WaitNode>(&node.work)) {
    if (CUresult result = make_call(*wait, &work.emplace<CallStep>())) return result;
  } else if (auto* ops = std::get_if<MemOpNode>(&node.work)) {
    if (CUresult result = make_call(*ops, &work.emplace<CallStep>())) return result;
  }
  *out = std::make_shared<const StepWork>(std::move(work));
  return CUDA_SUCCESS;
}

std::shared_ptr<Plan> make_plan(Graph& graph, PlanFailure* failure) {
  auto plan = std::make_shared<Plan>();
  plan->scopes.emplace_back();
  Planner planner(*plan, *failure);
  if (!planner.lay_out(graph, 0)) return nullptr;
  planner.finish();
  sort_memory(plan->memory);
  return plan;
}

}  // namespace limen::cpu
