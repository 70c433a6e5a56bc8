// cuGraphExecUpdate: nodes are paired from the exits up, along the edges in their order; then each
// pair is compared, then all are changed. source: CUDA Driver API 13.0, cuGraphExecUpdate.
// Thread rule: see the header.
#include "drivers/cpu/graph/update.h"

#include <algorithm>
#include <cstring>

#include "abi/cpu_api.h"
#include "drivers/cpu/module/module.h"

namespace limen::cpu {

namespace {

using Pairs = std::vector<std::pair<GraphNode*, GraphNode*>>;  ///< kept, new

class Pairing {
 public:
  Pairing(uint64_t flags, UpdateFailure* failure) : flags_(flags), failure_(failure) {}

  bool pair_graphs(Graph& kept, Graph& fresh) {
    if (kept.nodes.size() != fresh.nodes.size()) return fail_topology(nullptr);
    std::vector<GraphNode*> kept_exits = exits(kept), fresh_exits = exits(fresh);
    if (fresh_exits.size() > kept_exits.size()) return fail_topology(fresh_exits.back());
    if (fresh_exits.size() < kept_exits.size()) return fail_topology(nullptr);
    Pairs found;
    for (size_t i = 0; i < kept_exits.size(); ++i)
      if (!pair(kept_exits[i], fresh_exits[i], nullptr, &found)) return false;
    for (size_t i = 0; i < found.size(); ++i) {
      auto [old_node, new_node] = found[i];
      if (old_node->in.size() != new_node->in.size()) return fail_topology(new_node);
      for (size_t k = 0; k < old_node->in.size(); ++k)
        if (!pair(old_node->in[k].node, new_node->in[k].node, new_node, &found)) return false;
    }
    for (auto [old_node, new_node] : found)
      if (!compare(*old_node, *new_node)) return false;
    pairs_.insert(pairs_.end(), found.begin(), found.end());
    return true;
  }

  const Pairs& pairs() const { return pairs_; }

 private:
  static std::vector<GraphNode*> exits(const Graph& graph) {
    std::vector<GraphNode*> out;
    for (GraphNode* node : graph.nodes)
      if (node->out.empty()) out.push_back(node);
    return out;
  }

  bool fail(CUgraphExecUpdateResult why, GraphNode* node, GraphNode* from = nullptr) {
    *failure_ = {why, node, from};
    return false;
  }
  bool fail_topology(GraphNode* node, GraphNode* from = nullptr) {
    return fail(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, from);
  }

  bool pair(GraphNode* kept, GraphNode* fresh, GraphNode* below, Pairs* found) {
    GraphNode*& partner = partners_[kept];
    GraphNode*& back = partners_[fresh];
    if (partner == fresh && back == kept) return true;
    if (partner || back) return below ? fail_topology(below, fresh) : fail_topology(fresh);
    partner = fresh;
    back = kept;
    found->push_back({kept, fresh});
    return true;
  }

  bool compare(GraphNode& kept, GraphNode& fresh) {
    if (kept.type != fresh.type) return fail(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, &fresh);
    if (auto* child = std::get_if<ChildNode>(&kept.work))
      return pair_graphs(*child->graph, *std::get<ChildNode>(fresh.work).graph);
    if (auto* conditional = std::get_if<ConditionalNode>(&kept.work))
      return compare_bodies(*conditional, fresh);
    UpdateFailure failure;
    if (change_fits(kept, fresh.work, flags_, false, &failure)) return true;
    return fail(failure.why, &fresh);
  }

  bool compare_bodies(const ConditionalNode& kept, GraphNode& fresh) {
    const auto& other = std::get<ConditionalNode>(fresh.work);
    if (kept.type != other.type || kept.bodies.size() != other.bodies.size())
      return fail(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, &fresh);
    for (size_t i = 0; i < kept.bodies.size(); ++i)
      if (!pair_graphs(*reinterpret_cast<Graph*>(kept.bodies[i]),
                       *reinterpret_cast<Graph*>(other.bodies[i])))
        return false;
    return true;
  }

  const uint64_t flags_;
  UpdateFailure* failure_;
  std::map<GraphNode*, GraphNode*> partners_;
  Pairs pairs_;
};

bool kernel_fits(const KernelNode& kept, const KernelNode& fresh, uint64_t flags,
                 UpdateFailure* failure) {
  auto refuse = [failure](CUgraphExecUpdateResult why) {
    failure->why = why;
    return false;
  };
  if (kept.in.context != fresh.in.context)
    return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE);
  if (!kept.instance->program().launches_grids() && fresh.instance->program().launches_grids())
    return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE);
  LaunchOptions before, after;
  // Checked when they were set.
  (void)options_of(kept, &before);
  (void)options_of(fresh, &after);
  if (before.cooperative != after.cooperative)
    return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) && before.priority != after.priority)
    return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
  return true;
}

bool is_row(const CUDA_MEMCPY3D& copy) { return copy.Height == 1 && copy.Depth == 1; }

bool copy_fits(const CopyNode& kept, const CopyNode& fresh, bool single) {
  if (kept.dst_device != fresh.dst_device || kept.src_device != fresh.src_device) return false;
  if (single) return is_row(kept.params) && is_row(fresh.params) && fresh.params.WidthInBytes != 0;
  return kept.params.dstMemoryType == fresh.params.dstMemoryType &&
         kept.params.srcMemoryType == fresh.params.srcMemoryType;
}

bool fill_fits(const FillNode& kept, const FillNode& fresh) {
  if (kept.device != fresh.device) return false;
  const auto &before = kept.params, &after = fresh.params;
  if (before.height == 1) return after.height == 1;
  return before.height == after.height && before.width == after.width &&
         before.elementSize == after.elementSize && before.pitch == after.pitch;
}

bool mem_ops_fit(const MemOpNode& kept, const MemOpNode& fresh) {
  auto is_wait = [](CUstreamBatchMemOpType type) {
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  };
  if (kept.in.context != fresh.in.context || kept.ops.size() != fresh.ops.size()) return false;
  for (size_t i = 0; i < kept.ops.size(); ++i) {
    const auto before = kept.ops[i].operation, after = fresh.ops[i].operation;
    // Only waits may become others of their kind.
    if (before != after && !(is_wait(before) && is_wait(after))) return false;
  }
  return true;
}

}  // namespace

bool change_fits(const GraphNode& kept, const NodeWork& work, uint64_t flags, bool single,
                 UpdateFailure* failure) {
  failure->why = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  if (auto* kernel = std::get_if<KernelNode>(&work))
    return kernel_fits(std::get<KernelNode>(kept.work), *kernel, flags, failure);
  if (auto* copy = std::get_if<CopyNode>(&work))
    return copy_fits(std::get<CopyNode>(kept.work), *copy, single);
  if (auto* fill = std::get_if<FillNode>(&work))
    return fill_fits(std::get<FillNode>(kept.work), *fill);
  if (auto* signal = std::get_if<SignalNode>(&work))
    return signal->semaphores.size() == std::get<SignalNode>(kept.work).semaphores.size();
  if (auto* wait = std::get_if<WaitNode>(&work))
    return wait->semaphores.size() == std::get<WaitNode>(kept.work).semaphores.size();
  if (auto* ops = std::get_if<MemOpNode>(&work))
    return mem_ops_fit(std::get<MemOpNode>(kept.work), *ops);
  if (auto* alloc = std::get_if<AllocNode>(&work)) {
    failure->why = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    return alloc->memory == std::get<AllocNode>(kept.work).memory;
  }
  if (auto* free = std::get_if<FreeNode>(&work)) {
    failure->why = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    return free->memory == std::get<FreeNode>(kept.work).memory;
  }
  return true;
}

namespace {

/// A change of one node, ready to be put in place.
struct Change {
  GraphNode* kept = nullptr;
  NodeWork work;
  std::shared_ptr<const StepWork> step;
};

CUresult prepare(const Executable& executable, GraphNode& kept, const NodeWork& work,
                 Change* change) {
  change->kept = &kept;
  change->work = work;
  GraphNode node;
  node.type = kept.type;
  node.step = kept.step;
  node.work = work;
  return make_step_work(node, *executable.plan, &change->step);
}

/// The conditional node looks at the handle that the new graph's kernels set.
Change prepare_condition(const Executable& executable, GraphNode& kept,
                         const ConditionalNode& fresh) {
  Change change{&kept, kept.work, nullptr};
  std::get<ConditionalNode>(change.work).condition = fresh.condition;
  ConditionStep step = std::get<ConditionStep>(*executable.plan->steps[kept.step].work);
  step.condition = fresh.condition;
  change.step = std::make_shared<const StepWork>(std::move(step));
  return change;
}

void put_condition(Plan& plan, const GraphNode& kept, Condition* condition) {
  Condition* before = std::get<ConditionalNode>(kept.work).condition;
  std::replace(plan.conditions.begin(), plan.conditions.end(), before, condition);
  ++condition->uses;
  release_condition(before);
}

/// All changes at once. Under Executable::mutex.
void put_changes(Executable& executable, std::vector<Change>& changes) {
  Plan& plan = own_plan(executable);
  auto note_context = [&plan](const ContextUse& in) {
    for (const ContextUse& known : plan.contexts)
      if (known.context == in.context && known.owner == in.owner) return;
    plan.contexts.push_back(in);
  };
  for (Change& change : changes) {
    if (auto* conditional = std::get_if<ConditionalNode>(&change.work))
      put_condition(plan, *change.kept, conditional->condition);
    std::visit(
        [&](const auto& work) {
          if constexpr (requires { work.in; }) note_context(work.in);
        },
        change.work);
    change.kept->work = std::move(change.work);
    Step& step = plan.steps[change.kept->step];
    step.work = std::move(change.step);
    step.version = next_step_version();
  }
}

CUresult put_pairs(Executable& executable, const Pairs& pairs) {
  std::lock_guard lock(executable.mutex);
  std::vector<Change> changes;
  for (auto [kept, fresh] : pairs) {
    if (std::holds_alternative<ChildNode>(kept->work)) continue;
    if (auto* conditional = std::get_if<ConditionalNode>(&fresh->work)) {
      changes.push_back(prepare_condition(executable, *kept, *conditional));
      continue;
    }
    if (CUresult result = prepare(executable, *kept, fresh->work, &changes.emplace_back()))
      return result;
  }
  put_changes(executable, changes);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult put_work(Executable& executable, GraphNode& kept, NodeWork work) {
  std::lock_guard lock(executable.mutex);
  std::vector<Change> changes(1);
  if (CUresult result = prepare(executable, kept, work, &changes[0])) return result;
  put_changes(executable, changes);
  return CUDA_SUCCESS;
}

CUresult update_child(Executable& executable, GraphNode& kept, Graph& child) {
  auto* own = std::get_if<ChildNode>(&kept.work);
  if (!own) return CUDA_ERROR_INVALID_VALUE;
  UpdateFailure failure;
  Pairing pairing(executable.flags, &failure);
  if (!pairing.pair_graphs(*own->graph, child)) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  return put_pairs(executable, pairing.pairs());
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
                           CUgraphExecUpdateResultInfo* resultInfo) {
  // Nobody need listen. measured H200, driver 580.159.04
  CUgraphExecUpdateResultInfo unheard;
  if (!resultInfo) resultInfo = &unheard;
  *resultInfo = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  std::shared_ptr<Executable> executable;
  if (CUresult result = resolve_exec(hGraphExec, &executable)) return result;
  std::shared_ptr<CompileList> kernels;
  {
    GraphLock lock;
    Graph* graph;
    if (CUresult result = resolve_graph(hGraph, &graph)) return result;
    kernels = list_kernels(*graph);
  }
  compile_kernels(*kernels);
  GraphLock lock;
  Graph* graph;
  if (CUresult result = resolve_graph(hGraph, &graph)) return result;
  // source: CUDA Driver API 13.0, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE.
  if (executable->source->has_device_nodes() || graph->has_device_nodes()) {
    resultInfo->result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    return CUDA_ERROR_NOT_SUPPORTED;  // measured H200, driver 580.159.04
  }
  UpdateFailure failure;
  Pairing pairing(executable->flags, &failure);
  if (!pairing.pair_graphs(*executable->source, *graph)) {
    *resultInfo = {failure.why, failure.node ? handle_of(failure.node) : nullptr,
                   failure.from ? handle_of(failure.from) : nullptr};
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  if (CUresult result = put_pairs(*executable, pairing.pairs())) return result;
  resultInfo->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_KERNEL;
  std::memcpy(&params.kernel, nodeParams, sizeof params.kernel);
  return set_exec_node(hGraphExec, hNode, params);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
  if (!copyParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  params.memcpy.copyCtx = ctx;
  params.memcpy.copyParams = *copyParams;
  return set_exec_node(hGraphExec, hNode, params);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS* memsetParams,
                                        CUcontext ctx) {
  if (!memsetParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  const auto [dst, pitch, value, element_bytes, width, height] = *memsetParams;
  params.memset = {dst, pitch, value, element_bytes, width, height, ctx};
  return set_exec_node(hGraphExec, hNode, params);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_HOST;
  params.host = {nodeParams->fn, nodeParams->userData};
  return set_exec_node(hGraphExec, hNode, params);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUgraph childGraph) {
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_GRAPH;
  params.graph.graph = childGraph;
  return set_exec_node(hGraphExec, hNode, params);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUevent event) {
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  params.eventRecord.event = event;
  return set_exec_node(hGraphExec, hNode, params);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                          CUevent event) {
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  params.eventWait.event = event;
  return set_exec_node(hGraphExec, hNode, params);
}

CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams(
    CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
  std::memcpy(&params.extSemSignal, nodeParams, sizeof *nodeParams);
  return set_exec_node(hGraphExec, hNode, params);
}

CUresult cuGraphExecExternalSemaphoresWaitNodeSetParams(
    CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
  std::memcpy(&params.extSemWait, nodeParams, sizeof *nodeParams);
  return set_exec_node(hGraphExec, hNode, params);
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  std::memcpy(&params.memOp, nodeParams, sizeof *nodeParams);
  return set_exec_node(hGraphExec, hNode, params);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams* nodeParams) {
  return nodeParams ? set_exec_node(hGraphExec, hNode, *nodeParams) : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace limen::cpu
