// Plan: a graph made ready to run: one flat list of steps with their successors, everything that
// can be computed beforehand computed (code, argument bytes, ranges). Child graphs lie flat among
// the others between two empty steps; the bodies of conditional nodes are scopes of their own, run
// when and as often as their condition says. Executable: a plan, the graph that it was made from,
// and what its launches share.
// Invariant: a plan does not change once a launch has it; a change makes a copy first, and copies
// share the steps' work. Thread rule: Executable::mutex guards what is said to be; the rest of an
// Executable is guarded by the GraphLock. docs/design/graphs.md
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "abi/cuda_abi.h"
#include "base/result.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/device_node.h"
#include "drivers/cpu/graph/environment.h"
#include "drivers/cpu/graph/graph.h"
#include "drivers/cpu/graph/graph_memory.h"
#include "drivers/cpu/memory/transfer.h"
#include "engine/engine.h"

namespace limen::cpu {

struct KernelStep {
  engine::GridSpec grid;  ///< copied for each launch
  Context* context = nullptr;
  std::shared_ptr<Instance> instance;
  bool launches = false;                    ///< its program launches grids or graphs
  int priority = 0;                         ///< the node's, 0 where it has none
  std::shared_ptr<DeviceNode> device_node;  ///< only of nodes that kernels change
};
struct CopyStep {
  Context* context = nullptr;
  Transfer job;
};
struct FillStep {
  Context* context = nullptr;
  Fill job;
};
struct HostStep {
  CUhostFn function = nullptr;
  void* data = nullptr;
};
struct EventStep {
  std::shared_ptr<EventState> event;
  Context* context = nullptr;
  uint32_t slot = 0;  ///< of the launch's table of recordings, or of awaited points
  CUevent handle = nullptr;
};
/// Calls of the driver's own interface on a stream of this step's: external semaphores, memory
/// operations. Whatever they are to do is built there and nowhere else.
struct CallStep {
  Context* context = nullptr;
  std::shared_ptr<StreamHandle> stream;
  std::variant<SignalNode, WaitNode, MemOpNode> call;
};
struct ConditionStep {
  Condition* condition = nullptr;
  Context* context = nullptr;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::vector<uint32_t> bodies;  ///< scopes
};
using StepWork = std::variant<std::monostate, KernelStep, CopyStep, FillStep, HostStep, EventStep,
                              CallStep, ConditionStep>;

/// Unique in the process, never 0.
uint64_t next_step_version();

struct Step {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  bool enabled = true;
  uint32_t scope = 0;
  uint64_t version = next_step_version();  ///< another one after each of the host's changes
  uint32_t waits = 0;                      ///< steps that must be over first
  std::vector<uint32_t> next;              ///< follow its end
  std::vector<uint32_t> after_begin;       ///< kernels only: follow the beginning of its last block
  std::shared_ptr<const StepWork> work;
};

/// Steps that run together: the graph itself, or a body of a conditional node.
struct Scope {
  uint32_t owner = 0;  ///< the conditional step; of scope 0: none
  uint32_t sinks = 0;  ///< steps without successors: the scope is over with them
  std::vector<uint32_t> steps, roots;
};

struct Plan {
  std::vector<Step> steps;
  std::vector<Scope> scopes;
  std::vector<Condition*> conditions;  ///< of all conditional nodes
  std::vector<ContextUse> contexts;
  std::vector<uint32_t> records, awaits;  ///< event steps of the graph
  std::vector<uint32_t> updatable;        ///< kernel steps that kernels change
  bool launches = false;  ///< some kernel belongs to a program that launches grids or graphs
  GraphMemoryUse memory;
};

struct Executable {
  ~Executable();

  uint64_t flags = 0;
  CUgraphExec handle = nullptr;
  const std::unique_ptr<DeviceLaunch> device_launch = std::make_unique<DeviceLaunch>();
  Graph* source = nullptr;     ///< a clone of the graph that only this has
  Graph* made_from = nullptr;  ///< perhaps gone: another graph then has its place
  uint64_t graph_id = 0;
  std::map<uint64_t, GraphNode*> nodes;  ///< of source, by the id of the program's node

  std::mutex mutex;            ///< guards what follows
  std::shared_ptr<Plan> plan;  ///< for the launches to come
  StreamPoint last;            ///< the end of the latest launch
};

/// What a CUgraphExec is. Launches under way share the Executable.
struct GraphExec {
  std::shared_ptr<Executable> executable;
};

/// Compiles what the kernels of the graph need, without the GraphLock, so that making the plan
/// afterwards is quick.
struct CompileList;
std::shared_ptr<CompileList> list_kernels(const Graph& graph);
void compile_kernels(const CompileList& list);

/// What is wrong with a graph that cannot be instantiated.
struct PlanFailure {
  CUresult code = CUDA_SUCCESS;
  CUgraphInstantiateResult why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  uint64_t node = 0;  ///< origin of the node at fault, 0 none
};
/// Makes the plan; sets GraphNode::step.
std::shared_ptr<Plan> make_plan(Graph& graph, PlanFailure* failure);
/// The work of one node.
CUresult make_step_work(const GraphNode& node, const Plan& plan,
                        std::shared_ptr<const StepWork>* out);

/// errors: CUDA_ERROR_INVALID_VALUE.
CUresult resolve_exec(CUgraphExec handle, std::shared_ptr<Executable>* out);
/// The executable's node for a node of the program's graph. errors: CUDA_ERROR_INVALID_VALUE.
CUresult find_exec_node(const Executable& executable, CUgraphNode handle, GraphNode** out);
/// A plan that no launch has, to be changed; put in place. Under Executable::mutex.
Plan& own_plan(Executable& executable);

/// Starts one launch in `stream`; run.cpp.
void run_plan(const std::shared_ptr<Executable>& executable, const std::shared_ptr<Plan>& plan,
              Stream& stream);

}  // namespace limen::cpu
