// Making, copying and asking graphs: cuGraphCreate, cuGraphClone, nodes' and edges' lists. What
// nodes do is read in nodes.cpp. Thread rule: as graph.h.
#include "drivers/cpu/graph/graph.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"

namespace limen::cpu {

namespace {

std::mutex& graph_mutex() {
  static auto* made = new std::mutex;
  return *made;
}

uint64_t next_id() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

bool same_data(const CUgraphEdgeData& a, const CUgraphEdgeData& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

bool is_plain(const CUgraphEdgeData& data) { return same_data(data, CUgraphEdgeData{}); }

/// source: CUDA Driver API 13.0, CUgraphEdgeData and CUgraphDependencyType.
bool edge_is_valid(const CUgraphEdgeData& data, CUgraphNodeType from, CUgraphNodeType to) {
  const CUgraphEdgeData zero{};
  if (data.to_port || std::memcmp(data.reserved, zero.reserved, sizeof zero.reserved) != 0)
    return false;
  const bool kernels = from == CU_GRAPH_NODE_TYPE_KERNEL && to == CU_GRAPH_NODE_TYPE_KERNEL;
  if (data.type > CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC ||
      data.from_port > CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER)
    return false;
  if (data.from_port && from != CU_GRAPH_NODE_TYPE_KERNEL) return false;
  if (data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) return kernels && data.from_port;
  return data.from_port != CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
}

void connect(GraphNode* from, GraphNode* to, const CUgraphEdgeData& data) {
  to->in.push_back({from, data});
  from->out.push_back({to, data});
}

std::vector<GraphEdge>::iterator find_edge(std::vector<GraphEdge>& list, const GraphNode* node,
                                           const CUgraphEdgeData& data) {
  return std::find_if(list.begin(), list.end(), [&](const GraphEdge& edge) {
    return edge.node == node && same_data(edge.data, data);
  });
}

void drop_edges(std::vector<GraphEdge>& list, const GraphNode* node) {
  std::erase_if(list, [node](const GraphEdge& edge) { return edge.node == node; });
}

/// What a node owns goes: child graphs, bodies, its claim on memory and on a condition.
void end_node(GraphNode* node) {
  if (auto* child = std::get_if<ChildNode>(&node->work)) destroy_graph(child->graph);
  if (auto* free = std::get_if<FreeNode>(&node->work); free && !node->origin) forget_free(*free);
  if (auto* conditional = std::get_if<ConditionalNode>(&node->work)) {
    for (CUgraph body : conditional->bodies) destroy_graph(reinterpret_cast<Graph*>(body));
    if (conditional->condition->node == node) conditional->condition->node = nullptr;
    release_condition(conditional->condition);
  }
  driver().graph_nodes.retire(node);
  driver().graph_nodes.destroy(node);
}

/// Hands a list out as CUDA does: count only where there is no array, null beyond the end.
CUresult hand_out(const std::vector<GraphEdge>& edges, CUgraphNode* nodes, CUgraphEdgeData* data,
                  size_t* count) {
  if (!count || (data && !nodes)) return CUDA_ERROR_INVALID_VALUE;
  if (!nodes) {
    *count = edges.size();
    return CUDA_SUCCESS;
  }
  const size_t room = *count, given = std::min(room, edges.size());
  if (!data)
    for (size_t i = 0; i < given; ++i)
      if (!is_plain(edges[i].data)) return CUDA_ERROR_LOSSY_QUERY;
  for (size_t i = 0; i < room; ++i) {
    nodes[i] = i < given ? handle_of(edges[i].node) : nullptr;
    if (data) data[i] = i < given ? edges[i].data : CUgraphEdgeData{};
  }
  *count = given;
  return CUDA_SUCCESS;
}

CUresult hand_out(const std::vector<GraphNode*>& list, CUgraphNode* nodes, size_t* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  if (nodes) {
    const size_t room = *count;
    for (size_t i = 0; i < room; ++i) nodes[i] = i < list.size() ? handle_of(list[i]) : nullptr;
    *count = std::min(room, list.size());
  } else {
    *count = list.size();
  }
  return CUDA_SUCCESS;
}

/// The ends of the edges that a call names. errors: CUDA_ERROR_INVALID_VALUE.
CUresult read_edges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                    const CUgraphEdgeData* data, size_t count, Graph** graph,
                    std::vector<std::pair<GraphNode*, GraphEdge>>* out) {
  if (CUresult result = resolve_graph(handle, graph)) return result;
  if (count && (!from || !to)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    GraphNode *begin, *end;
    if (CUresult result = resolve_node(from[i], &begin)) return result;
    if (CUresult result = resolve_node(to[i], &end)) return result;
    const CUgraphEdgeData edge = data ? data[i] : CUgraphEdgeData{};
    if (begin->graph != *graph || end->graph != *graph || begin == end ||
        !edge_is_valid(edge, begin->type, end->type))
      return CUDA_ERROR_INVALID_VALUE;
    out->push_back({begin, {end, edge}});
  }
  return CUDA_SUCCESS;
}

}  // namespace

void release_condition(Condition* condition) {
  if (--condition->uses) return;
  driver().conditions.retire(condition);
  driver().conditions.destroy(condition);
}

GraphLock::GraphLock() : lock_(graph_mutex()) {}

bool ContextUse::alive() const {
  return driver().contexts.resolve(context) == context && context->active &&
         context->owner == owner;
}

bool Graph::has_memory_nodes() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const GraphNode* node) {
    if (auto* child = std::get_if<ChildNode>(&node->work)) return child->graph->has_memory_nodes();
    return node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
  });
}

bool Graph::has_device_nodes() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const GraphNode* node) {
    if (auto* kernel = std::get_if<KernelNode>(&node->work)) return kernel->device_node != nullptr;
    if (auto* child = std::get_if<ChildNode>(&node->work)) return child->graph->has_device_nodes();
    auto* conditional = std::get_if<ConditionalNode>(&node->work);
    return conditional &&
           std::any_of(conditional->bodies.begin(), conditional->bodies.end(), [](CUgraph body) {
             return reinterpret_cast<Graph*>(body)->has_device_nodes();
           });
  });
}

bool Graph::has_single_use_nodes() const {
  if (has_memory_nodes() || has_device_nodes()) return true;
  return std::any_of(nodes.begin(), nodes.end(), [](const GraphNode* node) {
    if (auto* child = std::get_if<ChildNode>(&node->work))
      return child->graph->has_single_use_nodes();
    return node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
  });
}

Graph* make_graph() {
  Graph* graph = driver().graphs.create();
  if (graph) graph->id = next_id();
  return graph;
}

void destroy_graph(Graph* graph) {
  driver().graphs.retire(graph);
  for (GraphNode* node : graph->nodes) end_node(node);
  for (Condition* condition : graph->conditions) release_condition(condition);
  for (const auto& [object, count] : graph->objects) release_user_object(object, count);
  driver().graphs.destroy(graph);
}

CUresult resolve_graph(CUgraph handle, Graph** graph) {
  *graph = driver().graphs.resolve(handle);
  return *graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult resolve_node(CUgraphNode handle, GraphNode** node) {
  *node = driver().graph_nodes.resolve(handle);
  return *node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult read_dependencies(const Graph& graph, const CUgraphNode* handles,
                           const CUgraphEdgeData* data, size_t count, CUgraphNodeType to,
                           std::vector<GraphEdge>* out) {
  if (count && !handles) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    GraphNode* node;
    if (CUresult result = resolve_node(handles[i], &node)) return result;
    const CUgraphEdgeData edge = data ? data[i] : CUgraphEdgeData{};
    if (node->graph != &graph || !edge_is_valid(edge, node->type, to) ||
        find_edge(*out, node, edge) != out->end())
      return CUDA_ERROR_INVALID_VALUE;
    out->push_back({node, edge});
  }
  return CUDA_SUCCESS;
}

GraphNode* add_node(Graph& graph, CUgraphNodeType type, NodeWork work,
                    const std::vector<GraphEdge>& dependencies) {
  GraphNode* node = driver().graph_nodes.create();
  if (!node) return nullptr;
  node->graph = &graph;
  node->id = next_id();
  node->type = type;
  node->work = std::move(work);
  for (const GraphEdge& edge : dependencies) connect(edge.node, node, edge.data);
  if (auto* child = std::get_if<ChildNode>(&node->work)) child->graph->owner = node;
  if (auto* conditional = std::get_if<ConditionalNode>(&node->work)) {
    conditional->condition->node = node;
    ++conditional->condition->uses;
    for (CUgraph body : conditional->bodies) reinterpret_cast<Graph*>(body)->owner = node;
  }
  graph.nodes.push_back(node);
  return node;
}

/// The clone of a node's work: graphs inside it are cloned, too.
static NodeWork clone_work(const NodeWork& work) {
  NodeWork copy = work;
  if (auto* child = std::get_if<ChildNode>(&copy)) child->graph = clone_graph(*child->graph, true);
  if (auto* conditional = std::get_if<ConditionalNode>(&copy)) {
    ++conditional->condition->uses;
    for (CUgraph& body : conditional->bodies)
      body = handle_of(clone_graph(*reinterpret_cast<Graph*>(body), true));
  }
  return copy;
}

Graph* clone_graph(const Graph& original, bool objects) {
  Graph* graph = make_graph();
  if (!graph) throw std::bad_alloc();
  graph->origin = original.id;
  graph->is_body = original.is_body;
  std::unordered_map<const GraphNode*, GraphNode*> copies;
  for (const GraphNode* node : original.nodes) {
    GraphNode* copy = driver().graph_nodes.create();
    if (!copy) throw std::bad_alloc();
    copy->graph = graph;
    copy->id = next_id();
    copy->origin = node->id;
    copy->type = node->type;
    copy->work = clone_work(node->work);
    if (auto* child = std::get_if<ChildNode>(&copy->work)) child->graph->owner = copy;
    if (auto* conditional = std::get_if<ConditionalNode>(&copy->work))
      for (CUgraph body : conditional->bodies) reinterpret_cast<Graph*>(body)->owner = copy;
    copies[node] = copy;
    graph->nodes.push_back(copy);
  }
  for (const GraphNode* node : original.nodes) {
    for (const GraphEdge& edge : node->in)
      copies[node]->in.push_back({copies[edge.node], edge.data});
    for (const GraphEdge& edge : node->out)
      copies[node]->out.push_back({copies[edge.node], edge.data});
  }
  if (objects) {
    graph->objects = original.objects;
    for (const auto& [object, count] : graph->objects) object->references += count;
  }
  return graph;
}

void list_origins(const Graph& graph, std::map<uint64_t, GraphNode*>* out) {
  for (GraphNode* node : graph.nodes) {
    out->emplace(node->origin, node);
    if (auto* child = std::get_if<ChildNode>(&node->work)) list_origins(*child->graph, out);
    if (auto* conditional = std::get_if<ConditionalNode>(&node->work))
      for (CUgraph body : conditional->bodies) list_origins(*reinterpret_cast<Graph*>(body), out);
  }
}

CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
  if (!phGraph || flags) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  Graph* graph = make_graph();
  if (!graph) return CUDA_ERROR_OUT_OF_MEMORY;
  *phGraph = handle_of(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph hGraph) {
  GraphLock lock;
  Graph* graph;
  if (CUresult result = resolve_graph(hGraph, &graph)) return result;
  // Graphs inside nodes, and those that a capture still adds to, are not the caller's.
  if (graph->owner || graph->capturing) return CUDA_ERROR_INVALID_VALUE;
  destroy_graph(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
  if (!phGraphClone) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  Graph* graph;
  if (CUresult result = resolve_graph(originalGraph, &graph)) return result;
  if (graph->has_single_use_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
  *phGraphClone = handle_of(clone_graph(*graph, true));
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode,
                                CUgraph hClonedGraph) {
  if (!phNode) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  Graph* clone;
  if (CUresult result = resolve_node(hOriginalNode, &node)) return result;
  if (CUresult result = resolve_graph(hClonedGraph, &clone)) return result;
  if (clone->origin != node->graph->id) return CUDA_ERROR_INVALID_VALUE;
  for (GraphNode* candidate : clone->nodes) {
    if (candidate->origin != node->id) continue;
    *phNode = handle_of(candidate);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
  if (!type) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  if (CUresult result = resolve_node(hNode, &node)) return result;
  *type = node->type;
  return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) {
  GraphLock lock;
  Graph* graph;
  if (CUresult result = resolve_graph(hGraph, &graph)) return result;
  return hand_out(graph->nodes, nodes, numNodes);
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes) {
  GraphLock lock;
  Graph* graph;
  if (CUresult result = resolve_graph(hGraph, &graph)) return result;
  std::vector<GraphNode*> roots;
  for (GraphNode* node : graph->nodes)
    if (node->in.empty()) roots.push_back(node);
  return hand_out(roots, rootNodes, numRootNodes);
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to,
                         CUgraphEdgeData* edgeData, size_t* numEdges) {
  GraphLock lock;
  Graph* graph;
  if (CUresult result = resolve_graph(hGraph, &graph)) return result;
  if (!numEdges || !from != !to || (edgeData && !from)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<std::pair<GraphNode*, const GraphEdge*>> edges;
  for (GraphNode* node : graph->nodes)
    for (const GraphEdge& edge : node->out) edges.push_back({node, &edge});
  if (!from) {
    *numEdges = edges.size();
    return CUDA_SUCCESS;
  }
  const size_t room = *numEdges, given = std::min(room, edges.size());
  if (!edgeData)
    for (size_t i = 0; i < given; ++i)
      if (!is_plain(edges[i].second->data)) return CUDA_ERROR_LOSSY_QUERY;
  for (size_t i = 0; i < room; ++i) {
    from[i] = i < given ? handle_of(edges[i].first) : nullptr;
    to[i] = i < given ? handle_of(edges[i].second->node) : nullptr;
    if (edgeData) edgeData[i] = i < given ? edges[i].second->data : CUgraphEdgeData{};
  }
  *numEdges = given;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies,
                                    CUgraphEdgeData* edgeData, size_t* numDependencies) {
  GraphLock lock;
  GraphNode* node;
  if (CUresult result = resolve_node(hNode, &node)) return result;
  return hand_out(node->in, dependencies, edgeData, numDependencies);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                      CUgraphEdgeData* edgeData, size_t* numDependentNodes) {
  GraphLock lock;
  GraphNode* node;
  if (CUresult result = resolve_node(hNode, &node)) return result;
  return hand_out(node->out, dependentNodes, edgeData, numDependentNodes);
}

CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData* edgeData, size_t numDependencies) {
  GraphLock lock;
  Graph* graph;
  std::vector<std::pair<GraphNode*, GraphEdge>> edges;
  if (CUresult result = read_edges(hGraph, from, to, edgeData, numDependencies, &graph, &edges))
    return result;
  for (size_t i = 0; i < edges.size(); ++i) {
    auto& [begin, end] = edges[i];
    if (find_edge(begin->out, end.node, end.data) != begin->out.end())
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < i; ++k)
      if (edges[k].first == begin && edges[k].second.node == end.node &&
          same_data(edges[k].second.data, end.data))
        return CUDA_ERROR_INVALID_VALUE;
  }
  for (auto& [begin, end] : edges) connect(begin, end.node, end.data);
  return CUDA_SUCCESS;
}

CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edgeData, size_t numDependencies) {
  GraphLock lock;
  Graph* graph;
  std::vector<std::pair<GraphNode*, GraphEdge>> edges;
  if (CUresult result = read_edges(hGraph, from, to, edgeData, numDependencies, &graph, &edges))
    return result;
  if (graph->has_memory_nodes() && numDependencies) return CUDA_ERROR_NOT_SUPPORTED;
  // Where no edge has this data, any edge between the two is meant. Measured: H200, driver 580.159.04.
  for (auto& [begin, end] : edges)
    if (find_edge(begin->out, end.node, end.data) == begin->out.end())
      for (const GraphEdge& edge : begin->out)
        if (edge.node == end.node) end.data = edge.data;
  for (auto& [begin, end] : edges)
    if (find_edge(begin->out, end.node, end.data) == begin->out.end())
      return CUDA_ERROR_INVALID_VALUE;
  for (auto& [begin, end] : edges) {
    auto found = find_edge(begin->out, end.node, end.data);
    if (found == begin->out.end()) continue;  // named twice
    begin->out.erase(found);
    end.node->in.erase(find_edge(end.node->in, begin, end.data));
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) {
  GraphLock lock;
  GraphNode* node;
  if (CUresult result = resolve_node(hNode, &node)) return result;
  Graph* graph = node->graph;
  if (graph->has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
  if (graph->capturing) return CUDA_ERROR_INVALID_VALUE;
  // source: CUDA Driver API 13.0, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: such nodes
  // stay in their graph.
  if (auto* kernel = std::get_if<KernelNode>(&node->work); kernel && kernel->device_node)
    return CUDA_ERROR_NOT_SUPPORTED;
  for (const GraphEdge& edge : node->in) drop_edges(edge.node->out, node);
  for (const GraphEdge& edge : node->out) drop_edges(edge.node->in, node);
  std::erase(graph->nodes, node);
  end_node(node);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
