// Independent lanes: what a plan needs so that lanes of a warp may wait for each other in a loop
// while the warp runs as a vector. Those past the loop go on, at most to the block's next barrier;
// those in it look again once everybody else has. Pure analysis; lower.cpp (again_while_waiting,
// ready_for_sync) makes the code, docs/design/simt.md has the theory.
#pragma once
#include <string>
#include <vector>

#include "compiler/simt/plan.h"

namespace limen::simt {

/// Lanes that need not wait go on, at most to the next barrier that waits for all threads anyhow
/// (or to the end): moves `meets`, by divergent branch where its lanes are together again.
/// `masked`: the region's masked nodes. True when that moved one.
bool meet_later(const Plan& plan, const Region& region, const Bits& masked,
                std::vector<NodeId>& meets);

/// Says which of the region's components are independent, and where their lanes may be held. `why`:
/// what forbids it.
void choose_independent(const Plan& plan, RegionPlan& region, std::string& why);

/// While one node of an independent component executes, lanes may be at any other: adds what all of
/// those read to what is kept.
void keep_for_independent(const Graph& graph, RegionPlan& region);

}  // namespace limen::simt
