// What is decided about a function before any code is made: shapes of its registers, which branches
// diverge, which nodes run under a mask, what must be blended, and which strategy can run it.
// Pure analysis. Lowering follows the plan and decides nothing of this again.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/simt/constants.h"
#include "compiler/simt/graph.h"
#include "compiler/simt/nans.h"
#include "compiler/simt/shape.h"
#include "compiler/simt/subnormals.h"
#include "devlib/kernel_abi.h"

namespace limen::simt {

/// How one region's nodes run.
struct RegionPlan {
  Region region;
  Bits masked;             ///< nodes with a mask of their own
  std::vector<Bits> keep;  ///< by node: registers whose old value inactive lanes still need
  std::vector<uint32_t> component;  ///< by node: masked component, no_node outside
  std::vector<NodeId>
      component_end;  ///< by component: where all lanes meet again; no_node = the end
  /// By component: its lanes go on independently of each other, since one may wait for another.
  std::vector<bool> independent;
  Bits waits;                ///< of independent components: headers of the loops that wait
  Bits syncs;                ///< and nodes that begin with what waits for lanes of the warp
  std::vector<NodeId> next;  ///< by masked node: next in its component's chain; no_node = end
  bool masked_barrier = false;
  /// Fiber strategy: masked nodes with a barrier that lanes elsewhere may come to as well. Where
  /// they can only exit, they count as arrived with their warp.
  Bits apart_at_barrier;
};

/// Where a function waits for another thread.
struct Waits {
  std::vector<Loop> loops;
  bool anywhere = false;  ///< the loops cannot be told: irreducible control flow
};

struct Plan {
  Graph graph;
  LaunchShape launch;
  kernel::Strategy strategy = kernel::Strategy::region;
  std::vector<Shape> shapes;           ///< by register (carry flag last)
  std::vector<RegionPlan> regions;     ///< regions[0] starts at the entry
  std::vector<uint32_t> region_after;  ///< by barrier node: the region that starts behind it
  Waits waits;                         ///< not found for Strategy::region, which has none
  NanPlan nans;
  Bits subnormals;  ///< subnormal_constants
  Constants constants;
  std::string notes;  ///< why this strategy
};

/// May the lanes of a warp leave this node different ways? `region`: where they go.
bool diverges(const Plan& plan, const Region& region, NodeId node);

/// What a function needs of its callers' strategy, callees included.
struct Traits {
  bool warp_ops = false;  ///< shfl, vote, match, redux, ...: vectors must be whole warps
  bool barriers = false;
  bool odd_barriers = false;  ///< named, counted, arriving or unaligned in divergent flow
  bool spins = false;         ///< waits in a loop for what another thread does
  bool uniform_spins_only = true;
  bool exits = false;      ///< `exit` inside a device function
  bool allocates = false;  ///< alloca: its memory must outlive barriers
  bool float64 = false;
  bool all_ftz = true;  ///< every f32 operation that can flush says .ftz
  bool any_ftz = false;
  std::string reason;
};

/// Atomic, volatile or ordered read: of what other threads may change.
bool reads_shared_state(const ptx::Instruction& inst);

/// `call_waits`: does this call lead to a read of what other threads change (a lock, a flag)?
using CallWaits = std::function<bool(const ptx::Instruction& call)>;

/// Traits of one function body (callees not followed).
Traits traits_of(const ptx::Function& function, const CallWaits& call_waits);

/// `region`: the whole function, not cut at barriers.
Waits waits_of(const Graph& graph, const Region& region, const CallWaits& call_waits);

/// May the lanes of a warp wait as one in every waiting loop of this kernel's fiber plan? False
/// when a lane in such a loop might need what another lane of its warp does later; `why` says
/// where.
bool waits_as_warp(const Plan& plan, std::string& why);

/// How the lanes of a fiber come through loops in which one may wait for another.
enum class Progress : uint8_t {
  together,     ///< they do not wait for each other
  independent,  ///< those past the loop go on to the block's next barrier meanwhile
  everywhere,   ///< independent, and any loop may be one in which they wait
};

/// Analyses `function` for the given launch and strategy. For Strategy::region the graph is cut at
/// barriers. Returns nothing when the strategy cannot run it; `why` says the reason.
std::optional<Plan> make_plan(const ptx::Function& function, const LaunchShape& launch,
                              kernel::Strategy strategy, Progress progress,
                              const CallWaits& call_waits, std::string& why);

}  // namespace limen::simt
