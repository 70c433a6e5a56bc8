// What nodes do: their parameters read, checked and copied, and read back. The older calls of each
// type and cuGraphAddNode meet in read_node. Invariant: a node refers to nothing of the caller's
// once the call has returned. Thread rule: as graph.h.
#include <algorithm>
#include <cstring>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/device_node.h"
#include "drivers/cpu/graph/graph.h"
#include "drivers/cpu/graph/node_params.h"
#include "drivers/cpu/memory/copy.h"
#include "drivers/cpu/module/module.h"

namespace limen::cpu {

namespace {

CUresult read_event(CUevent handle, EventNode* out) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;  // measured H200, driver 580.159.04
  EventHandle* event = driver().events.resolve(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  out->event = handle;
  out->state = event->state;
  out->in = {event->context, event->context->owner};
  return CUDA_SUCCESS;
}

CUresult read_child(const CUDA_CHILD_GRAPH_NODE_PARAMS& params, const Graph& parent,
                    ChildNode* out) {
  Graph* child;
  if (CUresult result = resolve_graph(params.graph, &child)) return result;
  if (child == &parent || child->capturing) return CUDA_ERROR_INVALID_VALUE;
  switch (params.ownership) {
    case CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE:
      if (child->has_single_use_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
      out->graph = clone_graph(*child, true);
      return CUDA_SUCCESS;
    case CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE:
      // source: CUDA Driver API 13.0, CUgraphChildGraphNodeOwnership: neither a child already nor
      // of conditional nodes, and not instantiated.
      if (child->owner || child->executables) return CUDA_ERROR_INVALID_VALUE;
      if (child->has_single_use_nodes() && !child->has_memory_nodes())
        return CUDA_ERROR_NOT_SUPPORTED;
      for (const Graph* above = &parent; above;
           above = above->owner ? above->owner->graph : nullptr)
        if (above == child) return CUDA_ERROR_INVALID_VALUE;
      out->graph = child;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult read_conditional(CUDA_CONDITIONAL_NODE_PARAMS& params, const Graph& graph,
                          ConditionalNode* out) {
  Condition* condition = driver().conditions.resolve(reinterpret_cast<const void*>(params.handle));
  if (!condition || condition->node) return CUDA_ERROR_INVALID_VALUE;
  bool of_graph = false;
  for (const Graph* above = &graph; above; above = above->owner ? above->owner->graph : nullptr)
    of_graph |= std::count(above->conditions.begin(), above->conditions.end(), condition) != 0;
  if (!of_graph) return CUDA_ERROR_INVALID_VALUE;
  const bool size_fits = params.type == CU_GRAPH_COND_TYPE_WHILE ? params.size == 1
                         : params.type == CU_GRAPH_COND_TYPE_IF
                             ? params.size == 1 || params.size == 2
                             : params.type == CU_GRAPH_COND_TYPE_SWITCH && params.size > 0;
  if (!size_fits) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = use_context(params.ctx, &out->in)) return result;
  if (out->in.context != condition->in.context) return CUDA_ERROR_INVALID_VALUE;
  out->condition = condition;
  out->type = params.type;
  for (unsigned i = 0; i < params.size; ++i) {
    Graph* body = make_graph();
    if (!body) return CUDA_ERROR_OUT_OF_MEMORY;
    body->is_body = true;
    out->bodies.push_back(handle_of(body));
  }
  return CUDA_SUCCESS;
}

/// source: CUDA Driver API 13.0, CUDA_CONDITIONAL_NODE_PARAMS: what bodies may hold. Host nodes are
/// taken as well, but such a graph cannot be instantiated: measured H200, driver 580.159.04.
bool allowed_in_body(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
    case CU_GRAPH_NODE_TYPE_HOST:
      return true;
    default:
      return false;
  }
}

bool is_in_body(const Graph& graph) {
  for (const Graph* at = &graph; at; at = at->owner ? at->owner->graph : nullptr)
    if (at->is_body) return true;
  return false;
}

bool only_allowed_in_body(const Graph& graph) {
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const GraphNode* node) {
    auto* child = std::get_if<ChildNode>(&node->work);
    return allowed_in_body(node->type) && (!child || only_allowed_in_body(*child->graph));
  });
}

template <typename Work, typename Read>
CUresult read_into(NodeWork* out, Read&& read) {
  Work work;
  if (CUresult result = read(&work)) return result;
  *out = std::move(work);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult use_context(CUcontext handle, ContextUse* out) {
  Context* context;
  if (CUresult result = context_of(handle, &context)) return result;
  *out = {context, context->owner};
  return CUDA_SUCCESS;
}

void keep_attributes(const KernelNode& from, KernelNode* to) {
  to->attributes = from.attributes;
  to->device_node = from.device_node;
}

CUresult options_of(const KernelNode& kernel, LaunchOptions* options) {
  return read_launch_attributes(kernel.attributes.data(),
                                static_cast<unsigned>(kernel.attributes.size()), *kernel.in.context,
                                options);
}

CUresult read_kernel(const CUDA_KERNEL_NODE_PARAMS_v3& params, KernelNode* out) {
  const CUfunction handle = params.func ? params.func : reinterpret_cast<CUfunction>(params.kern);
  if (!handle) return CUDA_ERROR_INVALID_HANDLE;  // measured H200, driver 580.159.04
  Function* function;
  if (CUresult result = resolve_launchable(handle, &function)) return result;
  out->function = params.func;
  out->kernel = params.kern;
  if (function->module) {
    out->in = {function->module->context, function->module->context->owner};
  } else if (CUresult result = use_context(params.func ? nullptr : params.ctx, &out->in)) {
    return result;
  }
  out->given_context = handle_of(out->in.context);
  out->shape = {{params.gridDimX, params.gridDimY, params.gridDimZ},
                {params.blockDimX, params.blockDimY, params.blockDimZ},
                params.sharedMemBytes};
  out->state = function->state;
  LaunchForm form;
  LaunchOptions options;
  if (CUresult result = options_of(*out, &options)) return result;
  if (CUresult result =
          check_launch(out->shape, *out->state, out->in.context->device, options, nullptr, &form))
    return result;
  if (CUresult result = instance_of(*function, *out->in.context, &out->instance)) return result;
  out->through_buffer = params.extra != nullptr;
  return pack_parameters(out->bytes, out->state->function(), params.kernelParams, params.extra);
}

CUresult read_copy(const CUDA_MEMCPY3D& params, CUcontext context, CopyNode* out) {
  if (CUresult result = use_context(context, &out->in)) return result;
  CopyPlan plan;
  if (CUresult result = plan_copy(params, &plan)) return result;
  out->params = params;
  out->job = plan.job;
  out->dst_device = plan.dst.device;
  out->src_device = plan.src.device;
  return CUDA_SUCCESS;
}

CUresult read_fill(const CUDA_MEMSET_NODE_PARAMS_v2& params, FillNode* out) {
  if (params.elementSize != 1 && params.elementSize != 2 && params.elementSize != 4)
    return CUDA_ERROR_INVALID_VALUE;
  if (!params.width || !params.height) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = use_context(params.ctx, &out->in)) return result;
  out->params = {params.dst,         params.pitch, params.value,
                 params.elementSize, params.width, params.height};
  PointerInfo info;
  if (CUresult result = plan_fill(out->params, &out->job, &info)) return result;
  out->device = info.device;
  return CUDA_SUCCESS;
}

CUresult read_node(Graph& graph, const std::vector<GraphEdge>& dependencies,
                   CUgraphNodeParams& params, NodeWork* out) {
  if (is_in_body(graph) && !allowed_in_body(params.type)) return CUDA_ERROR_NOT_SUPPORTED;
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return read_into<KernelNode>(out, [&](auto* to) { return read_kernel(params.kernel, to); });
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      if (params.memcpy.flags || params.memcpy.reserved) return CUDA_ERROR_INVALID_VALUE;
      return read_into<CopyNode>(out, [&](auto* to) {
        return read_copy(params.memcpy.copyParams, params.memcpy.copyCtx, to);
      });
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return read_into<FillNode>(out, [&](auto* to) { return read_fill(params.memset, to); });
    case CU_GRAPH_NODE_TYPE_HOST:
      if (!params.host.fn) return CUDA_ERROR_INVALID_VALUE;
      *out = HostNode{{params.host.fn, params.host.userData}};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH: {
      if (CUresult result = read_into<ChildNode>(
              out, [&](auto* to) { return read_child(params.graph, graph, to); }))
        return result;
      return CUDA_SUCCESS;
    }
    case CU_GRAPH_NODE_TYPE_EMPTY:
      *out = std::monostate{};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return read_into<EventNode>(out,
                                  [&](auto* to) { return read_event(params.eventWait.event, to); });
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return read_into<EventNode>(
          out, [&](auto* to) { return read_event(params.eventRecord.event, to); });
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      return read_into<SignalNode>(
          out, [&](auto* to) { return read_semaphores(params.extSemSignal, to); });
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return read_into<WaitNode>(out,
                                 [&](auto* to) { return read_semaphores(params.extSemWait, to); });
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return read_into<AllocNode>(
          out, [&](auto* to) { return read_alloc(graph, dependencies, params.alloc, to); });
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return read_into<FreeNode>(out,
                                 [&](auto* to) { return read_free(graph, params.free.dptr, to); });
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return read_into<MemOpNode>(out, [&](auto* to) { return read_mem_ops(params.memOp, to); });
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return read_into<ConditionalNode>(
          out, [&](auto* to) { return read_conditional(params.conditional, graph, to); });
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult add_node(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies,
                  const CUgraphEdgeData* data, size_t count, CUgraphNodeParams& params) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  Graph* graph;
  if (CUresult result = resolve_graph(handle, &graph)) return result;
  std::vector<GraphEdge> edges;
  if (CUresult result = read_dependencies(*graph, dependencies, data, count, params.type, &edges))
    return result;
  if (params.type == CU_GRAPH_NODE_TYPE_GRAPH && is_in_body(*graph)) {
    Graph* child;
    if (CUresult result = resolve_graph(params.graph.graph, &child)) return result;
    if (!only_allowed_in_body(*child)) return CUDA_ERROR_NOT_SUPPORTED;
  }
  NodeWork work;
  if (CUresult result = read_node(*graph, edges, params, &work)) return result;
  GraphNode* node = add_node(*graph, params.type, std::move(work), edges);
  if (!node) return CUDA_ERROR_OUT_OF_MEMORY;
  if (auto* conditional = std::get_if<ConditionalNode>(&node->work))
    params.conditional.phGraph_out = conditional->bodies.data();
  *out = handle_of(node);
  return CUDA_SUCCESS;
}

CUresult set_node(CUgraphNode handle, CUgraphNodeParams& params) {
  GraphLock lock;
  GraphNode* node;
  if (CUresult result = resolve_node(handle, &node)) return result;
  if (params.type != node->type) return CUDA_ERROR_INVALID_VALUE;
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      break;
  }
  NodeWork work;
  if (CUresult result = read_node(*node->graph, {}, params, &work)) return result;
  if (auto* kernel = std::get_if<KernelNode>(&work))
    keep_attributes(std::get<KernelNode>(node->work), kernel);
  node->work = std::move(work);
  return CUDA_SUCCESS;
}

// ---- Kernels ----------------------------------------------------------------------------------

CUresult cuGraphAddKernelNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_KERNEL);
  std::memcpy(&params.kernel, nodeParams, sizeof params.kernel);  // the same layout
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  KernelNode* kernel;
  if (CUresult result = work_of(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &node, &kernel)) return result;
  *nodeParams = {};
  nodeParams->func = kernel->function;
  nodeParams->kern = kernel->kernel;
  nodeParams->ctx = kernel->given_context;
  nodeParams->gridDimX = kernel->shape.grid[0];
  nodeParams->gridDimY = kernel->shape.grid[1];
  nodeParams->gridDimZ = kernel->shape.grid[2];
  nodeParams->blockDimX = kernel->shape.block[0];
  nodeParams->blockDimY = kernel->shape.block[1];
  nodeParams->blockDimZ = kernel->shape.block[2];
  nodeParams->sharedMemBytes = kernel->shape.shared_bytes;
  if (kernel->through_buffer) {
    kernel->buffer_bytes = kernel->bytes.size();
    kernel->extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    kernel->extra[1] = kernel->bytes.data();
    kernel->extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    kernel->extra[3] = &kernel->buffer_bytes;
    kernel->extra[4] = CU_LAUNCH_PARAM_END;
    nodeParams->extra = kernel->extra;
    return CUDA_SUCCESS;
  }
  kernel->pointers.clear();
  for (const auto& parameter : kernel->state->function().params)
    kernel->pointers.push_back(kernel->bytes.data() + parameter.offset);
  nodeParams->kernelParams = kernel->pointers.empty() ? nullptr : kernel->pointers.data();
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_KERNEL);
  std::memcpy(&params.kernel, nodeParams, sizeof params.kernel);
  return set_node(hNode, params);
}

namespace {

/// What a node has where nothing was set.
CUresult default_attribute(const KernelNode& kernel, CUkernelNodeAttrID attribute,
                           CUkernelNodeAttrValue* out) {
  std::memset(out, 0, sizeof *out);
  KernelState& state = *kernel.state;
  const Device& device = kernel.in.context->device;
  int value = 0;
  switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
      uint32_t cluster[3];
      cluster_dimensions(state, device, nullptr, cluster);
      out->clusterDim = {cluster[0], cluster[1], cluster[2]};
      return CUDA_SUCCESS;
    }
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      if (CUresult result = get_function_attribute(
              &value, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, state, device))
        return result;
      out->clusterSchedulingPolicyPreference = static_cast<CUclusterSchedulingPolicy>(value);
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      out->memSyncDomainMap = {0, 1};
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (CUresult result = get_function_attribute(
              &value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, state, device))
        return result;
      out->sharedMemCarveout = static_cast<unsigned>(value);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUlaunchAttribute* find_attribute(KernelNode& kernel, CUkernelNodeAttrID attribute) {
  for (CUlaunchAttribute& one : kernel.attributes)
    if (one.id == attribute) return &one;
  return nullptr;
}

/// Lets kernels change the node from now on. `value` tells the caller the node's handle.
CUresult make_updatable(KernelNode& kernel, CUkernelNodeAttrValue* value) {
  const int asked = value->deviceUpdatableKernelNode.deviceUpdatable;
  // source: CUDA Driver API 13.0, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: 0 or 1, and
  // there is no way back. Codes: measured H200, driver 580.159.04.
  if (asked && asked != 1) return CUDA_ERROR_INVALID_VALUE;
  if (!asked) return kernel.device_node ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
  if (!kernel.device_node) kernel.device_node = DeviceNode::make(kernel.in.context->device);
  value->deviceUpdatableKernelNode.devNode = kernel.device_node->handle();
  return CUDA_SUCCESS;
}

/// Replaces the list, if the launch it describes can be.
CUresult put_attributes(KernelNode& kernel, std::vector<CUlaunchAttribute> attributes) {
  std::swap(kernel.attributes, attributes);
  LaunchOptions options;
  CUresult result = options_of(kernel, &options);
  if (result) kernel.attributes = std::move(attributes);
  return result;
}

}  // namespace

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue* value_out) {
  if (!value_out) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  KernelNode* kernel;
  if (CUresult result = work_of(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &node, &kernel)) return result;
  CUkernelNodeAttrValue value;
  if (CUresult result = default_attribute(*kernel, attr, &value)) return result;
  if (const CUlaunchAttribute* set = find_attribute(*kernel, attr)) value = set->value;
  if (attr == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE && kernel->device_node)
    value.deviceUpdatableKernelNode = {1, kernel->device_node->handle()};
  *value_out = value;
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue* value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  KernelNode* kernel;
  if (CUresult result = work_of(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &node, &kernel)) return result;
  CUkernelNodeAttrValue unused;
  if (CUresult result = default_attribute(*kernel, attr, &unused)) return result;
  // The handle comes back in the caller's value.
  if (attr == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
    return make_updatable(*kernel, const_cast<CUkernelNodeAttrValue*>(value));
  std::vector<CUlaunchAttribute> attributes = kernel->attributes;
  std::erase_if(attributes, [attr](const auto& one) { return one.id == attr; });
  attributes.push_back({attr, {}, *value});
  return put_attributes(*kernel, std::move(attributes));
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
  GraphLock lock;
  GraphNode *to, *from;
  KernelNode *to_kernel, *from_kernel;
  if (CUresult result = work_of(dst, CU_GRAPH_NODE_TYPE_KERNEL, &to, &to_kernel)) return result;
  if (CUresult result = work_of(src, CU_GRAPH_NODE_TYPE_KERNEL, &from, &from_kernel)) return result;
  // source: as make_updatable.
  if (to_kernel->device_node || from_kernel->device_node) return CUDA_ERROR_NOT_SUPPORTED;
  return put_attributes(*to_kernel, from_kernel->attributes);
}

// ---- Copies and fills -------------------------------------------------------------------------

CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
  if (!copyParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEMCPY);
  params.memcpy.copyCtx = ctx;
  params.memcpy.copyParams = *copyParams;
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  CopyNode* copy;
  if (CUresult result = work_of(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, &node, &copy)) return result;
  *nodeParams = copy->params;
  return CUDA_SUCCESS;
}

namespace {

/// The context that a node has, for a call that names none.
CUcontext context_of_node(CUgraphNode handle) {
  GraphLock lock;
  GraphNode* node = driver().graph_nodes.resolve(handle);
  if (!node) return nullptr;
  if (auto* copy = std::get_if<CopyNode>(&node->work)) return handle_of(copy->in.context);
  if (auto* fill = std::get_if<FillNode>(&node->work)) return handle_of(fill->in.context);
  return nullptr;
}

}  // namespace

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEMCPY);
  params.memcpy.copyCtx = context_of_node(hNode);
  params.memcpy.copyParams = *nodeParams;
  return set_node(hNode, params);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
  if (!memsetParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEMSET);
  const auto [dst, pitch, value, element_bytes, width, height] = *memsetParams;
  params.memset = {dst, pitch, value, element_bytes, width, height, ctx};
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  FillNode* fill;
  if (CUresult result = work_of(hNode, CU_GRAPH_NODE_TYPE_MEMSET, &node, &fill)) return result;
  *nodeParams = fill->params;
  return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEMSET);
  const auto [dst, pitch, value, element_bytes, width, height] = *nodeParams;
  params.memset = {dst, pitch, value, element_bytes, width, height, context_of_node(hNode)};
  return set_node(hNode, params);
}

// ---- The others -------------------------------------------------------------------------------

CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                            const CUgraphNode* dependencies, size_t numDependencies,
                            const CUDA_HOST_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_HOST);
  params.host = {nodeParams->fn, nodeParams->userData};
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  HostNode* host;
  if (CUresult result = work_of(hNode, CU_GRAPH_NODE_TYPE_HOST, &node, &host)) return result;
  *nodeParams = host->params;
  return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_HOST);
  params.host = {nodeParams->fn, nodeParams->userData};
  return set_node(hNode, params);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                  const CUgraphNode* dependencies, size_t numDependencies,
                                  CUgraph childGraph) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_GRAPH);
  params.graph = {childGraph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE};
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) {
  if (!phGraph) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  ChildNode* child;
  if (CUresult result = work_of(hNode, CU_GRAPH_NODE_TYPE_GRAPH, &node, &child)) return result;
  *phGraph = handle_of(child->graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                             const CUgraphNode* dependencies, size_t numDependencies) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EMPTY);
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                   const CUgraphNode* dependencies, size_t numDependencies,
                                   CUevent event) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  params.eventRecord.event = event;
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 CUevent event) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  params.eventWait.event = event;
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

namespace {

CUresult get_event(CUgraphNode handle, CUgraphNodeType type, CUevent* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  EventNode* event;
  if (CUresult result = work_of(handle, type, &node, &event)) return result;
  *out = event->event;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  return get_event(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_out);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  return get_event(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_out);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  params.eventRecord.event = event;
  return set_node(hNode, params);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  params.eventWait.event = event;
  return set_node(hNode, params);
}

CUresult cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                        const CUgraphEdgeData* dependencyData, size_t numDependencies,
                        CUgraphNodeParams* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  for (int word : nodeParams->reserved0)
    if (word) return CUDA_ERROR_INVALID_VALUE;
  if (nodeParams->reserved2) return CUDA_ERROR_INVALID_VALUE;
  return add_node(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, *nodeParams);
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  return nodeParams ? set_node(hNode, *nodeParams) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* pHandle_out, CUgraph hGraph,
                                        CUcontext ctx, unsigned int defaultLaunchValue,
                                        unsigned int flags) {
  if (!pHandle_out || (flags & ~unsigned{CU_GRAPH_COND_ASSIGN_DEFAULT}))
    return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  Graph* graph;
  if (CUresult result = resolve_graph(hGraph, &graph)) return result;
  ContextUse in;
  if (CUresult result = use_context(ctx, &in)) return result;
  Condition* condition = driver().conditions.create();
  if (!condition) return CUDA_ERROR_OUT_OF_MEMORY;
  condition->in = in;
  condition->default_value = defaultLaunchValue;
  condition->assign_default = flags & CU_GRAPH_COND_ASSIGN_DEFAULT;
  condition->value = condition->assign_default ? defaultLaunchValue : 0;
  graph->conditions.push_back(condition);
  *pHandle_out = reinterpret_cast<CUgraphConditionalHandle>(condition);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
