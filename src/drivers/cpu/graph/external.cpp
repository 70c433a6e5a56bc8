// Nodes for what other parts do: external semaphores and memory operations. The operations
// themselves are those of cuStreamBatchMemOp and cuSignalExternalSemaphoresAsync (run.cpp).
// Thread rule: as graph.h.
#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/node_params.h"
#include "drivers/cpu/stream/memop.h"

namespace limen::cpu {

namespace {

/// None can be imported into a CPU device yet (cuImportExternalSemaphore), so no handle is one. The
/// nodes work as soon as some can.
bool is_external_semaphore(CUexternalSemaphore) { return false; }

template <typename Params, typename Node>
CUresult read_list(const Params& params, Node* out) {
  // None at all is a node that does nothing. measured H200, driver 580.159.04
  if (params.numExtSems && (!params.extSemArray || !params.paramsArray))
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < params.numExtSems; ++i)
    if (!is_external_semaphore(params.extSemArray[i])) return CUDA_ERROR_INVALID_HANDLE;
  out->semaphores.assign(params.extSemArray, params.extSemArray + params.numExtSems);
  out->params.assign(params.paramsArray, params.paramsArray + params.numExtSems);
  return use_context(nullptr, &out->in);
}

}  // namespace

CUresult read_semaphores(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2& params, SignalNode* out) {
  return read_list(params, out);
}

CUresult read_semaphores(const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2& params, WaitNode* out) {
  return read_list(params, out);
}

CUresult read_mem_ops(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& params, MemOpNode* out) {
  std::vector<Memop> checked;
  if (CUresult result = read_memops(params.count, params.paramArray, params.flags, &checked))
    return result;
  out->given_context = params.ctx;
  out->ops.assign(params.paramArray, params.paramArray + params.count);
  return use_context(params.ctx, &out->in);
}

CUresult cuGraphAddExternalSemaphoresSignalNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                                const CUgraphNode* dependencies,
                                                size_t numDependencies,
                                                const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
  std::memcpy(&params.extSemSignal, nodeParams, sizeof *nodeParams);
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

CUresult cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode hNode,
                                                      CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params_out) {
  if (!params_out) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  SignalNode* signal;
  if (CUresult result = work_of(hNode, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, &node, &signal))
    return result;
  *params_out = {signal->semaphores.data(), signal->params.data(),
                 static_cast<unsigned>(signal->semaphores.size())};
  return CUDA_SUCCESS;
}

CUresult cuGraphExternalSemaphoresSignalNodeSetParams(
    CUgraphNode hNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
  std::memcpy(&params.extSemSignal, nodeParams, sizeof *nodeParams);
  return set_node(hNode, params);
}

CUresult cuGraphAddExternalSemaphoresWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                              const CUgraphNode* dependencies,
                                              size_t numDependencies,
                                              const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
  std::memcpy(&params.extSemWait, nodeParams, sizeof *nodeParams);
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

CUresult cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode hNode,
                                                    CUDA_EXT_SEM_WAIT_NODE_PARAMS* params_out) {
  if (!params_out) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  WaitNode* wait;
  if (CUresult result = work_of(hNode, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, &node, &wait))
    return result;
  *params_out = {wait->semaphores.data(), wait->params.data(),
                 static_cast<unsigned>(wait->semaphores.size())};
  return CUDA_SUCCESS;
}

CUresult cuGraphExternalSemaphoresWaitNodeSetParams(
    CUgraphNode hNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
  std::memcpy(&params.extSemWait, nodeParams, sizeof *nodeParams);
  return set_node(hNode, params);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                  const CUgraphNode* dependencies, size_t numDependencies,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  std::memcpy(&params.memOp, nodeParams, sizeof *nodeParams);
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode,
                                        CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams_out) {
  if (!nodeParams_out) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  MemOpNode* ops;
  if (CUresult result = work_of(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &node, &ops)) return result;
  *nodeParams_out = {handle_of(ops->in.context), static_cast<unsigned>(ops->ops.size()),
                     ops->ops.data(), ops->flags};
  return CUDA_SUCCESS;
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  std::memcpy(&params.memOp, nodeParams, sizeof *nodeParams);
  return set_node(hNode, params);
}

}  // namespace limen::cpu
