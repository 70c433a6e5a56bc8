// Graphs as the program builds them: nodes with their parameters, edges, user objects. Knows
// nothing of execution; a plan (plan.h) is made from a graph and shares nothing that changes.
// Invariant: an edge stands in both of its nodes' lists, in the order in which edges were made;
// nodes stand in the graph in the order in which they were added; a child or body graph has an
// owner and goes with it. Thread rule: everything here is guarded by the one GraphLock, since graph
// building is no hot path and CUDA itself promises no thread safety; launches hold it for a look-up
// only. docs/design/graphs.md
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "abi/cuda_abi.h"
#include "drivers/cpu/launch.h"
#include "drivers/cpu/memory/transfer.h"
#include "drivers/cpu/stream/stream.h"

namespace limen::cpu {

struct Context;
class DeviceNode;
struct Graph;
struct GraphNode;
struct GraphMemory;
struct KernelState;
class Instance;

class GraphLock {
 public:
  GraphLock();

 private:
  std::unique_lock<std::mutex> lock_;
};

/// A context as a node remembers it: a later one in its place is another.
struct ContextUse {
  Context* context = nullptr;
  uint32_t owner = 0;
  bool alive() const;
};

struct GraphEdge {
  GraphNode* node = nullptr;  ///< the other end
  CUgraphEdgeData data{};
};

/// The value that a conditional node looks at, behind a CUgraphConditionalHandle.
struct Condition {
  ContextUse in;
  unsigned default_value = 0;
  bool assign_default = false;
  std::atomic<unsigned> value{0};
  GraphNode* node = nullptr;  ///< the conditional node that uses it
  uint32_t uses = 1;          ///< its graph, and nodes of all graphs
};
void release_condition(Condition* condition);

/// A caller's object with a count of references and a destructor. Runs it on a worker, since no
/// call may wait for it. source: CUDA C++ Programming Guide 13.0, "CUDA User Objects".
struct UserObject {
  void* pointer = nullptr;
  CUhostFn destroy = nullptr;
  uint64_t references = 0;  ///< the caller's and the graphs'
};
/// Gives `count` references back; the object is gone when none is left.
void release_user_object(UserObject* object, uint64_t count);

// ---- What nodes do --------------------------------------------------------------------------

struct KernelNode {
  CUfunction function = nullptr;  ///< as given, to be read back
  CUkernel kernel = nullptr;
  CUcontext given_context = nullptr;
  ContextUse in;
  LaunchShape shape{};
  std::shared_ptr<KernelState> state;
  std::shared_ptr<Instance> instance;
  std::vector<uint8_t> bytes;   ///< the packed arguments
  std::vector<void*> pointers;  ///< into bytes, as a query shows them
  bool through_buffer = false;  ///< given as one buffer (`extra`)
  void* extra[5] = {};
  size_t buffer_bytes = 0;
  std::vector<CUlaunchAttribute> attributes;
  std::shared_ptr<DeviceNode> device_node;  ///< only of nodes that kernels may change
};

struct CopyNode {
  ContextUse in;
  CUDA_MEMCPY3D params{};
  Transfer job;
  int dst_device = -1, src_device = -1;  ///< -1: the host
};

struct FillNode {
  ContextUse in;
  CUDA_MEMSET_NODE_PARAMS params{};
  Fill job;
  int device = -1;
};

struct HostNode {
  CUDA_HOST_NODE_PARAMS params{};
};

struct ChildNode {
  Graph* graph = nullptr;
};

struct EventNode {
  CUevent event = nullptr;
  std::shared_ptr<EventState> state;
  ContextUse in;
};

struct SignalNode {
  std::vector<CUexternalSemaphore> semaphores;
  std::vector<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS> params;
  ContextUse in;
};

struct WaitNode {
  std::vector<CUexternalSemaphore> semaphores;
  std::vector<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS> params;
  ContextUse in;
};

struct AllocNode {
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
  std::vector<CUmemAccessDesc> access;
  std::shared_ptr<GraphMemory> memory;
};

struct FreeNode {
  CUdeviceptr address = 0;
  std::shared_ptr<GraphMemory> memory;
};

struct MemOpNode {
  ContextUse in;
  CUcontext given_context = nullptr;
  unsigned flags = 0;
  std::vector<CUstreamBatchMemOpParams> ops;
};

struct ConditionalNode {
  ContextUse in;
  Condition* condition = nullptr;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::vector<CUgraph> bodies;  ///< the array that the program was shown
};

using NodeWork =
    std::variant<std::monostate, KernelNode, CopyNode, FillNode, HostNode, ChildNode, EventNode,
                 SignalNode, WaitNode, AllocNode, FreeNode, MemOpNode, ConditionalNode>;

struct GraphNode {
  Graph* graph = nullptr;
  uint64_t id = 0;      ///< unique in the process
  uint64_t origin = 0;  ///< id of the node that this one is a clone of
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  NodeWork work;
  std::vector<GraphEdge> in, out;
  uint32_t step = 0;  ///< in the plan, for the nodes that an executable graph keeps
};

struct Graph {
  uint64_t id = 0;
  uint64_t origin = 0;  ///< id of the graph that this one is a clone of
  std::vector<GraphNode*> nodes;
  GraphNode* owner = nullptr;  ///< of a child or body graph
  bool is_body = false;        ///< of a conditional node
  bool capturing = false;      ///< a capture adds to it
  bool of_capture = false;     ///< made by a capture that is not over: destroyed with it
  uint32_t executables = 0;    ///< alive, instantiated from it
  std::vector<Condition*> conditions;
  std::map<UserObject*, uint64_t> objects;

  /// Holds a node that allows one executable graph at a time and no clones.
  bool has_single_use_nodes() const;
  bool has_memory_nodes() const;
  /// Holds a kernel node that kernels may change, also in bodies.
  bool has_device_nodes() const;
};

inline CUgraph handle_of(Graph* graph) { return reinterpret_cast<CUgraph>(graph); }
inline CUgraphNode handle_of(GraphNode* node) { return reinterpret_cast<CUgraphNode>(node); }

// ---- Building; all under the GraphLock --------------------------------------------------------

Graph* make_graph();
void destroy_graph(Graph* graph);
/// A copy of nodes, edges, child graphs and bodies. `objects`: with its references.
Graph* clone_graph(const Graph& original, bool objects);
/// Nodes by the id of their origins, of this graph and all inside it.
void list_origins(const Graph& graph, std::map<uint64_t, GraphNode*>* out);

/// errors: CUDA_ERROR_INVALID_VALUE.
CUresult resolve_graph(CUgraph handle, Graph** graph);
CUresult resolve_node(CUgraphNode handle, GraphNode** node);
/// The nodes of `graph` that the handles are, with edge data checked for a dependent of type `to`.
/// `data` may be null. errors: CUDA_ERROR_INVALID_VALUE.
CUresult read_dependencies(const Graph& graph, const CUgraphNode* handles,
                           const CUgraphEdgeData* data, size_t count, CUgraphNodeType to,
                           std::vector<GraphEdge>* out);
/// Adds a node whose parameters were read.
GraphNode* add_node(Graph& graph, CUgraphNodeType type, NodeWork work,
                    const std::vector<GraphEdge>& dependencies);

/// Checks a node's parameters and copies them; `dependencies`: of a node to be added. `context`:
/// for those without a context of their own. May fill in what the call returns in `params`. errors:
/// 1, 201, 801.
CUresult read_node(Graph& graph, const std::vector<GraphEdge>& dependencies,
                   CUgraphNodeParams& params, NodeWork* out);
/// The node parameters of a capture or of the older calls, in the form of the newest.
CUresult add_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                  const CUgraphEdgeData* data, size_t count, CUgraphNodeParams& params);
CUresult set_node(CUgraphNode node, CUgraphNodeParams& params);
CUresult set_exec_node(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams& params);

CUresult read_kernel(const CUDA_KERNEL_NODE_PARAMS_v3& params, KernelNode* out);
/// What the node's attributes ask for.
CUresult options_of(const KernelNode& kernel, LaunchOptions* options);
/// What a node keeps when it gets other parameters.
void keep_attributes(const KernelNode& from, KernelNode* to);
CUresult read_copy(const CUDA_MEMCPY3D& params, CUcontext context, CopyNode* out);
CUresult read_fill(const CUDA_MEMSET_NODE_PARAMS_v2& params, FillNode* out);
/// A context argument of a node: null is the current one. errors: 201, 709.
CUresult use_context(CUcontext handle, ContextUse* out);

/// Allocations and frees of graphs (graph_memory.cpp).
CUresult read_alloc(const Graph& graph, const std::vector<GraphEdge>& dependencies,
                    CUDA_MEM_ALLOC_NODE_PARAMS_v2& params, AllocNode* out);
CUresult read_free(const Graph& graph, CUdeviceptr address, FreeNode* out);
/// A node of the program's, no clone, that frees is gone.
void forget_free(const FreeNode& node);

}  // namespace limen::cpu
