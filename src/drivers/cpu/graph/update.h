// Changing executable graphs: which changes are allowed, and putting them in place.
// Invariant: a change that is refused leaves the executable graph as it was.
// Thread rule: under the GraphLock; Executable::mutex is taken inside.
#pragma once
#include "drivers/cpu/graph/plan.h"

namespace limen::cpu {

struct UpdateFailure {
  CUgraphExecUpdateResult why = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  GraphNode *node = nullptr, *from = nullptr;  ///< of the graph with the new parameters
};

/// Whether a node of an executable graph may do `work` from now on. `single`: the call changes one
/// node, which allows less of copies.
bool change_fits(const GraphNode& kept, const NodeWork& work, uint64_t flags, bool single,
                 UpdateFailure* failure);
/// Makes the kept node do `work`.
CUresult put_work(Executable& executable, GraphNode& kept, NodeWork work);
/// Gives the nodes of a child graph the parameters of `child`'s.
CUresult update_child(Executable& executable, GraphNode& kept, Graph& child);

}  // namespace limen::cpu
