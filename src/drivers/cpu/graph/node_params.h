// What the calls on nodes of all types share: finding a node's work, and parameters in the newest
// form. Invariant: params_of leaves no byte undefined. Thread rule: as graph.h.
#pragma once
#include <cstring>

#include "drivers/cpu/graph/graph.h"

namespace limen::cpu {

/// The node's work of that kind, or 1: the node is of another type.
template <typename Work>
CUresult work_of(CUgraphNode handle, CUgraphNodeType type, GraphNode** node, Work** work) {
  if (CUresult result = resolve_node(handle, node)) return result;
  *work = std::get_if<Work>(&(*node)->work);
  return *work && (*node)->type == type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// A node's parameters with the type set and everything else 0.
inline CUgraphNodeParams params_of(CUgraphNodeType type) {
  CUgraphNodeParams params;
  std::memset(&params, 0, sizeof params);
  params.type = type;
  return params;
}

CUresult read_semaphores(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2& params, SignalNode* out);
CUresult read_semaphores(const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2& params, WaitNode* out);
CUresult read_mem_ops(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& params, MemOpNode* out);

}  // namespace limen::cpu
