// Executable graphs: cuGraphInstantiate*, cuGraphLaunch, cuGraphUpload and changes of single nodes.
// Whole updates are in update.cpp. Invariant: launches of one executable graph follow each other,
// whatever streams they are in. Thread rule: the GraphLock is let go before Executable::mutex is
// waited for and before anything runs.
#include <algorithm>

#include "abi/cpu_api.h"
#include "drivers/cpu/graph/capture.h"
#include "drivers/cpu/graph/plan.h"
#include "drivers/cpu/graph/update.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/module/module.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

constexpr uint64_t device_launch = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
constexpr uint64_t auto_free = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
constexpr uint64_t known_flags = auto_free | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | device_launch |
                                 CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

bool flags_are_valid(uint64_t flags) {
  return !(flags & ~known_flags) &&
         (flags & (device_launch | auto_free)) != (device_launch | auto_free);
}

/// Whether a graph may be launched by kernels, node by node.
/// source: CUDA Driver API 13.0, cuGraphInstantiate.
bool fits_device_launch(const Graph& graph, Context** context, size_t* work, PlanFailure* failure) {
  auto refuse = [failure](const GraphNode& node, CUgraphInstantiateResult why) {
    *failure = {CUDA_ERROR_INVALID_VALUE, why, node.id};  // measured H200, driver 580.159.04
    return false;
  };
  for (const GraphNode* node : graph.nodes) {
    const ContextUse* in = nullptr;
    if (auto* child = std::get_if<ChildNode>(&node->work)) {
      if (!fits_device_launch(*child->graph, context, work, failure)) return false;
      continue;
    }
    if (auto* kernel = std::get_if<KernelNode>(&node->work)) {
      in = &kernel->in;
      // No dynamic parallelism in such a graph, not even its cudaGetLastError (measured H200,
      // driver 580.159.04). A body that cannot be read is met when compiling.
      auto needs = kernel->state->program->needs(kernel->state->index);
      if (needs.ok() && needs->device_runtime)
        return refuse(*node, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    } else if (auto* copy = std::get_if<CopyNode>(&node->work)) {
      in = &copy->in;
      // Device memory and pinned host memory only.
      auto pageable = [](CUmemorytype type, const void* host) {
        PointerInfo info;
        return type == CU_MEMORYTYPE_HOST && classify(reinterpret_cast<uint64_t>(host), &info) &&
               info.memory == Memory::pageable;
      };
      const CUDA_MEMCPY3D& params = copy->params;
      if (params.dstArray || params.srcArray || pageable(params.srcMemoryType, params.srcHost) ||
          pageable(params.dstMemoryType, params.dstHost))
        return refuse(*node, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    } else if (auto* fill = std::get_if<FillNode>(&node->work)) {
      in = &fill->in;
    } else {
      return refuse(*node, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    }
    ++*work;
    if (*context && *context != in->context)
      return refuse(*node, CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED);
    *context = in->context;
  }
  return true;
}

/// All handles made for the graph are used by nodes. source: CUDA Driver API 13.0,
/// CUgraphInstantiateResult.
bool conditions_are_used(const Graph& graph) {
  return std::all_of(graph.conditions.begin(), graph.conditions.end(),
                     [](const Condition* condition) { return condition->node != nullptr; });
}

/// A host node in a body of a conditional node, where it may be added but not run.
const GraphNode* find_host_node_in_body(const Graph& graph, bool in_body) {
  for (const GraphNode* node : graph.nodes) {
    const GraphNode* found = nullptr;
    if (in_body && std::holds_alternative<HostNode>(node->work)) return node;
    if (auto* child = std::get_if<ChildNode>(&node->work))
      found = find_host_node_in_body(*child->graph, in_body);
    else if (auto* conditional = std::get_if<ConditionalNode>(&node->work))
      for (CUgraph body : conditional->bodies)
        if (!found) found = find_host_node_in_body(*reinterpret_cast<const Graph*>(body), true);
    if (found) return found;
  }
  return nullptr;
}

CUresult check_instantiable(const Graph& graph, uint64_t flags, PlanFailure* failure) {
  auto refuse = [failure](CUresult code, CUgraphInstantiateResult why) {
    if (failure->why == CUDA_GRAPH_INSTANTIATE_SUCCESS) *failure = {code, why, 0};
    return failure->code;
  };
  if (graph.capturing || graph.is_body)
    return refuse(CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_ERROR);
  if (graph.executables && graph.has_single_use_nodes())
    return refuse(CUDA_ERROR_NOT_SUPPORTED, CUDA_GRAPH_INSTANTIATE_ERROR);
  if (!conditions_are_used(graph))
    return refuse(CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
  if (const GraphNode* host = find_host_node_in_body(graph, false)) {
    // measured H200, driver 580.159.04
    *failure = {CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
                host->id};
    return failure->code;
  }
  if (!(flags & device_launch)) return CUDA_SUCCESS;
  Context* context = nullptr;
  size_t work = 0;
  if (!fits_device_launch(graph, &context, &work, failure)) return failure->code;
  if (!work) return refuse(CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_ERROR);
  return CUDA_SUCCESS;
}

/// The plan for a clone of the graph. The clone's nodes name the program's by their origins.
CUresult make_executable(Graph& graph, uint64_t flags, std::shared_ptr<Executable>* out,
                         PlanFailure* failure) {
  auto made = std::make_shared<Executable>();
  made->flags = flags;
  made->source = clone_graph(graph, true);
  made->made_from = &graph;
  made->graph_id = graph.id;
  list_origins(*made->source, &made->nodes);
  made->plan = make_plan(*made->source, failure);
  if (made->plan) follow_host(*made->plan);
  *out = std::move(made);
  return (*out)->plan ? CUDA_SUCCESS : failure->code;
}

CUgraphNode node_of_origin(const Graph& graph, uint64_t id) {
  for (GraphNode* node : graph.nodes) {
    if (node->id == id) return handle_of(node);
    if (auto* child = std::get_if<ChildNode>(&node->work))
      if (CUgraphNode found = node_of_origin(*child->graph, id)) return found;
    if (auto* conditional = std::get_if<ConditionalNode>(&node->work))
      for (CUgraph body : conditional->bodies)
        if (CUgraphNode found = node_of_origin(*reinterpret_cast<Graph*>(body), id)) return found;
  }
  return nullptr;
}

CUresult instantiate(CUgraphExec* out, CUgraph handle, uint64_t flags,
                     CUgraphInstantiateResult* why, CUgraphNode* at) {
  *why = CUDA_GRAPH_INSTANTIATE_ERROR;
  *at = nullptr;
  if (!out || !flags_are_valid(flags)) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<CompileList> kernels;
  {
    GraphLock lock;
    Graph* graph;
    if (CUresult result = resolve_graph(handle, &graph)) return result;
    kernels = list_kernels(*graph);
  }
  compile_kernels(*kernels);
  std::shared_ptr<Executable> executable;  // outlives the lock, which its end takes
  PlanFailure failure;
  GraphLock lock;
  Graph* graph;
  if (CUresult result = resolve_graph(handle, &graph)) return result;
  CUresult result = check_instantiable(*graph, flags, &failure);
  if (!result) result = make_executable(*graph, flags, &executable, &failure);
  if (result) {
    *why = failure.why;
    if (failure.node) *at = node_of_origin(*graph, failure.node);
    return result;
  }
  GraphExec* made = driver().graph_execs.create();
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  made->executable = executable;
  executable->handle = reinterpret_cast<CUgraphExec>(made);
  ++graph->executables;
  *out = reinterpret_cast<CUgraphExec>(made);
  *why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return CUDA_SUCCESS;
}

CUresult instantiate_in_context(CUgraphExec* out, CUgraph graph, uint64_t flags) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  // An upload needs a stream. source: CUDA Driver API 13.0, cuGraphInstantiateWithParams.
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) return CUDA_ERROR_INVALID_VALUE;
  CUgraphInstantiateResult why;
  CUgraphNode at;
  return instantiate(out, graph, flags, &why, &at);
}

CUresult contexts_are_usable(const Plan& plan) {
  for (const ContextUse& in : plan.contexts) {
    if (!in.alive()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (CUresult sticky = in.context->sticky()) return sticky;
  }
  return CUDA_SUCCESS;
}

}  // namespace

Executable::~Executable() {
  if (!source) return;
  GraphLock lock;
  destroy_graph(source);
}

CUresult resolve_exec(CUgraphExec handle, std::shared_ptr<Executable>* out) {
  GraphLock lock;
  GraphExec* exec = driver().graph_execs.resolve(handle);
  if (!exec) return CUDA_ERROR_INVALID_VALUE;
  *out = exec->executable;
  return CUDA_SUCCESS;
}

CUresult find_exec_node(const Executable& executable, CUgraphNode handle, GraphNode** out) {
  GraphNode* named;
  if (CUresult result = resolve_node(handle, &named)) return result;
  auto found = executable.nodes.find(named->id);
  if (found == executable.nodes.end()) return CUDA_ERROR_INVALID_VALUE;
  *out = found->second;
  return CUDA_SUCCESS;
}

Plan& own_plan(Executable& executable) {
  // The count alone orders nothing: what a launch read is over when its end is seen.
  if (executable.plan.use_count() > 1 || !executable.last.reached())
    executable.plan = std::make_shared<Plan>(*executable.plan);
  return *executable.plan;
}

CUresult set_exec_node(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams& params) {
  std::shared_ptr<Executable> executable;
  if (CUresult result = resolve_exec(exec, &executable)) return result;
  GraphLock lock;
  GraphNode* kept;
  if (CUresult result = find_exec_node(*executable, node, &kept)) return result;
  if (params.type != kept->type) return CUDA_ERROR_INVALID_VALUE;
  if (params.type == CU_GRAPH_NODE_TYPE_GRAPH) {
    Graph* child;
    if (CUresult result = resolve_graph(params.graph.graph, &child)) return result;
    return update_child(*executable, *kept, *child);
  }
  if (params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || params.type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
      params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
    return CUDA_ERROR_NOT_SUPPORTED;
  NodeWork work;
  if (CUresult result = read_node(*kept->graph, {}, params, &work)) return result;
  if (auto* kernel = std::get_if<KernelNode>(&work))
    keep_attributes(std::get<KernelNode>(kept->work), kernel);
  UpdateFailure failure;
  if (!change_fits(*kept, work, executable->flags, true, &failure)) return CUDA_ERROR_INVALID_VALUE;
  return put_work(*executable, *kept, std::move(work));
}

CUresult cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode,
                            char* logBuffer, size_t bufferSize) {
  if (logBuffer && bufferSize) *logBuffer = 0;
  // The wrong node is told by cuGraphInstantiateWithParams only. measured H200, driver 580.159.04
  if (phErrorNode) *phErrorNode = nullptr;
  return instantiate_in_context(phGraphExec, hGraph, 0);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph,
                                     unsigned long long flags) {
  return instantiate_in_context(phGraphExec, hGraph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
  if (!instantiateParams) return CUDA_ERROR_INVALID_VALUE;
  CUDA_GRAPH_INSTANTIATE_PARAMS& params = *instantiateParams;
  if (CUresult result =
          instantiate(phGraphExec, hGraph, params.flags, &params.result_out, &params.hErrNode_out))
    return result;
  if (params.flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) {
    CUresult result = cuGraphUpload(*phGraphExec, params.hUploadStream);
    if (result == CUDA_SUCCESS) return result;
    cuGraphExecDestroy(*phGraphExec);
    params.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Executable> executable;
  if (CUresult result = resolve_exec(hGraphExec, &executable)) return result;
  // An upload is over with the call. source: CUDA Driver API 13.0, cuGraphExecGetFlags. The nodes'
  // priorities are not told either. measured H200, driver 580.159.04
  *flags = executable->flags & ~uint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY};
  return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  std::shared_ptr<Executable> executable;
  if (CUresult result = resolve_exec(hGraphExec, &executable)) return result;
  std::lock_guard lock(executable->mutex);
  if (CUresult result = contexts_are_usable(*executable->plan)) return result;
  // All else is in place since the instantiation.
  upload_memory(executable->plan->memory, *on.stream);
  before_work(*on.context, *on.stream);
  on.stream->wait_for(executable->last);
  if (!(executable->flags & device_launch) && executable->plan->updatable.empty())
    return CUDA_SUCCESS;
  // What kernels launch, and change, follows the host's changes in the stream's order.
  on.stream->task(
      [executable, plan = executable->plan] {
        follow_host(*plan);
        std::lock_guard inside(executable->device_launch->mutex);
        executable->device_launch->plan = plan;
      },
      true);
  return CUDA_SUCCESS;
}

/// The events that a launch records.
static std::vector<EventStep> recorded_events(const Plan& plan) {
  std::vector<EventStep> events;
  for (uint32_t index : plan.records)
    events.push_back(std::get<EventStep>(*plan.steps[index].work));
  return events;
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
  ResolvedStream on;
  // A launch cannot be captured: code 900. measured H200, driver 580.159.04
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  std::shared_ptr<Executable> executable;
  if (CUresult result = resolve_exec(hGraphExec, &executable)) return result;
  Context& context = *on.context;
  context.print.flush();
  uint64_t seq;
  std::vector<EventStep> recorded;
  {
    std::lock_guard lock(executable->mutex);
    recorded = recorded_events(*executable->plan);
    if (CUresult result = contexts_are_usable(*executable->plan)) return result;
    if (CUresult result =
            begin_memory_use(executable->plan->memory, executable->flags & auto_free, *on.stream))
      return result;
    seal_freed_memory();
    before_work(context, *on.stream);
    if (executable->last.stream) on.stream->wait_for(executable->last);
    run_plan(executable, executable->plan, *on.stream);
    executable->last = on.stream->tail();
    seq = executable->last.seq;
  }
  // Events of a capture no more. Not under the executable's lock, which comes after the GraphLock.
  for (const EventStep& step : recorded) {
    EventHandle* event = driver().events.resolve(step.handle);
    if (event && event->state == step.event) forget_captured_event(*event);
  }
  if (!driver().settings.launch_blocking) return CUDA_SUCCESS;
  on.stream->wait(seq, context.wait_policy());
  context.print.flush();
  return context.sticky();
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
  std::shared_ptr<Executable> executable;  // outlives the lock, which its end takes
  GraphLock lock;
  GraphExec* exec = driver().graph_execs.resolve(hGraphExec);
  if (!exec || !driver().graph_execs.retire(exec)) return CUDA_ERROR_INVALID_VALUE;
  executable = std::move(exec->executable);
  driver().graph_execs.destroy(exec);
  Graph* graph = driver().graphs.resolve(executable->made_from);
  if (graph && graph->id == executable->graph_id) --graph->executables;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
  std::shared_ptr<Executable> executable;
  if (CUresult result = resolve_exec(hGraphExec, &executable)) return result;
  GraphLock lock;
  GraphNode* node;
  if (CUresult result = find_exec_node(*executable, hNode, &node)) return result;
  // source: CUDA Driver API 13.0, cuGraphNodeSetEnabled: only these types.
  if (node->type != CU_GRAPH_NODE_TYPE_KERNEL && node->type != CU_GRAPH_NODE_TYPE_MEMSET &&
      node->type != CU_GRAPH_NODE_TYPE_MEMCPY)
    return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard inside(executable->mutex);
  Step& step = own_plan(*executable).steps[node->step];
  step.enabled = isEnabled != 0;
  step.version = next_step_version();
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled) {
  if (!isEnabled) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Executable> executable;
  if (CUresult result = resolve_exec(hGraphExec, &executable)) return result;
  GraphLock lock;
  GraphNode* node;
  if (CUresult result = find_exec_node(*executable, hNode, &node)) return result;
  if (node->type != CU_GRAPH_NODE_TYPE_KERNEL && node->type != CU_GRAPH_NODE_TYPE_MEMSET &&
      node->type != CU_GRAPH_NODE_TYPE_MEMCPY)
    return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard inside(executable->mutex);
  *isEnabled = executable->plan->steps[node->step].enabled;
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
