// cuGraphDebugDotPrint: a graph as a DOT file, child graphs and bodies as clusters. The form is our
// own; what the flags add follows their names. Thread rule: as graph.h.
#include <cstdio>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "drivers/cpu/graph/graph.h"
#include "drivers/cpu/module/module.h"

namespace limen::cpu {

namespace {

const char* name_of(CUgraphNodeType type) {
  static constexpr const char* names[] = {
      "KERNEL",       "MEMCPY",       "MEMSET",           "HOST",           "GRAPH",     "EMPTY",
      "WAIT_EVENT",   "EVENT_RECORD", "EXT_SEMAS_SIGNAL", "EXT_SEMAS_WAIT", "MEM_ALLOC", "MEM_FREE",
      "BATCH_MEM_OP", "CONDITIONAL"};
  return type >= 0 && static_cast<size_t>(type) < std::size(names) ? names[type] : "UNKNOWN";
}

class DotText {
 public:
  explicit DotText(unsigned flags) : flags_(flags) {}

  std::string print(const Graph& graph) {
    text_ = "digraph dot {\n";
    add_cluster(graph, fmt::format("graph_{}", graph.id));
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  bool asks(unsigned flag) const { return flags_ & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE); }

  std::string details(const GraphNode& node) const {
    std::string out;
    if (asks(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
      out += fmt::format("\\nhandle {}", static_cast<const void*>(&node));
    auto* kernel = std::get_if<KernelNode>(&node.work);
    if (kernel) {
      const LaunchShape& shape = kernel->shape;
      out += "\\n" + kernel->state->function().name;
      if (asks(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))
        out += fmt::format("\\ngrid {} {} {}, block {} {} {}, shared {}", shape.grid[0],
                           shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
                           shape.block[2], shape.shared_bytes);
      if (asks(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES))
        out += fmt::format("\\n{} attributes set", kernel->attributes.size());
    }
    if (auto* copy = std::get_if<CopyNode>(&node.work);
        copy && asks(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
      out += fmt::format("\\n{:#x} to {:#x}, {} x {} x {} bytes", copy->job.src, copy->job.dst,
                         copy->job.width, copy->job.height, copy->job.depth);
    if (auto* fill = std::get_if<FillNode>(&node.work);
        fill && asks(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
      out +=
          fmt::format("\\n{:#x}, value {:#x}, {} x {} elements of {} bytes", fill->job.dst,
                      fill->job.value, fill->job.width, fill->job.height, fill->job.element_bytes);
    if (auto* host = std::get_if<HostNode>(&node.work);
        host && asks(CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS))
      out += fmt::format("\\nfunction {}, data {}", reinterpret_cast<void*>(host->params.fn),
                         host->params.userData);
    if (auto* event = std::get_if<EventNode>(&node.work);
        event && asks(CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS))
      out += fmt::format("\\nevent {}", static_cast<void*>(event->event));
    if (auto* alloc = std::get_if<AllocNode>(&node.work);
        alloc && asks(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS))
      out += fmt::format("\\n{} bytes at {:#x}", alloc->params.bytesize, alloc->params.dptr);
    if (auto* free = std::get_if<FreeNode>(&node.work);
        free && asks(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS))
      out += fmt::format("\\n{:#x}", free->address);
    if (auto* ops = std::get_if<MemOpNode>(&node.work);
        ops && asks(CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS))
      out += fmt::format("\\n{} operations", ops->ops.size());
    if (auto* conditional = std::get_if<ConditionalNode>(&node.work);
        conditional && asks(CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS))
      out += fmt::format("\\ntype {}, {} bodies", unsigned{conditional->type},
                         conditional->bodies.size());
    return out;
  }

  void add_cluster(const Graph& graph, const std::string& name) {
    text_ += fmt::format("subgraph cluster_{} {{\nlabel=\"{}\"\n", name, name);
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const GraphNode& node = *graph.nodes[i];
      text_ += fmt::format("\"node_{}\" [shape=box label=\"{}: {}{}\"];\n", node.id, i,
                           name_of(node.type), details(node));
      if (auto* child = std::get_if<ChildNode>(&node.work))
        add_cluster(*child->graph, fmt::format("child_{}", child->graph->id));
      if (auto* conditional = std::get_if<ConditionalNode>(&node.work))
        for (CUgraph body : conditional->bodies)
          add_cluster(*reinterpret_cast<Graph*>(body),
                      fmt::format("body_{}", reinterpret_cast<Graph*>(body)->id));
    }
    for (const GraphNode* node : graph.nodes)
      for (const GraphEdge& edge : node->out)
        text_ += fmt::format("\"node_{}\" -> \"node_{}\"{};\n", node->id, edge.node->id,
                             edge.data.type ? " [style=dashed]" : "");
    text_ += "}\n";
  }

  const unsigned flags_;
  std::string text_;
};

}  // namespace

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int flags) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  std::string text;
  {
    GraphLock lock;
    Graph* graph;
    if (CUresult result = resolve_graph(hGraph, &graph)) return result;
    text = DotText(flags).print(*graph);
  }
  FILE* file = std::fopen(path, "w");
  if (!file) return CUDA_ERROR_OPERATING_SYSTEM;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace limen::cpu
