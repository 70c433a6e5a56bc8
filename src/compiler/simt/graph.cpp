// See graph.h.
#include "compiler/simt/graph.h"

#include <algorithm>
#include <functional>

namespace limen::simt {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;

bool Bits::any() const {
  return std::any_of(words_.begin(), words_.end(), [](uint64_t w) { return w != 0; });
}

size_t Bits::count() const {
  size_t n = 0;
  for (uint64_t w : words_) n += static_cast<size_t>(__builtin_popcountll(w));
  return n;
}

bool Bits::merge(const Bits& other) {
  bool grew = false;
  for (size_t i = 0; i < words_.size(); ++i) {
    uint64_t next = words_[i] | other.words_[i];
    grew |= next != words_[i];
    words_[i] = next;
  }
  return grew;
}

bool is_block_barrier(const Instruction& inst) {
  if (inst.op != Op::bar && inst.op != Op::barrier) return false;
  return !inst.has(Tok::warp) && !inst.has(Tok::cluster);
}

bool needs_whole_block(const Instruction& inst) {
  if (!is_block_barrier(inst) || inst.has(Tok::arrive) || inst.guard != ptx::no_index) return false;
  const size_t id = inst.has(Tok::red) ? 1 : 0;
  return inst.ops.size() == (inst.has(Tok::red) ? 3u : 1u) &&
         inst.ops[id].kind == Operand::Kind::imm;
}

bool is_warp_sync(const Instruction& inst) {
  switch (inst.op) {
    case Op::shfl:
    case Op::vote:
    case Op::match:
    case Op::redux:
    case Op::elect:
    case Op::mma:
    case Op::wmma:
    case Op::ldmatrix:
    case Op::stmatrix:
    case Op::movmatrix:
      return true;
    case Op::bar:
    case Op::barrier:
      return inst.has(Tok::warp);
    default:
      return false;
  }
}

namespace {

void collect(const Operand& o, std::vector<Index>& out) {
  switch (o.kind) {
    case Operand::Kind::reg:
      out.push_back(o.index);
      break;
    case Operand::Kind::address:
      if (o.symbol_kind == Operand::SymbolKind::none && o.index != ptx::no_index)
        out.push_back(o.index);
      for (const Operand& e : o.elems) collect(e, out);
      break;
    case Operand::Kind::vector:
    case Operand::Kind::pair:
      for (const Operand& e : o.elems) collect(e, out);
      break;
    default:
      break;
  }
}

/// Does operand 0 name what the instruction writes?
bool writes_first(const Instruction& inst) {
  switch (inst.op) {
    case Op::st:
    case Op::red:
    case Op::bra:
    case Op::brx:
    case Op::ret:
    case Op::exit:
    case Op::trap:
    case Op::brkpt:
    case Op::membar:
    case Op::fence:
    case Op::nanosleep:
    case Op::pmevent:
    case Op::prefetch:
    case Op::prefetchu:
    case Op::call:
    case Op::cp:
    case Op::discard:
    case Op::applypriority:
    case Op::stackrestore:
    case Op::griddepcontrol:
    case Op::sust:
    case Op::sured:
    case Op::stmatrix:
    case Op::tensormap:
      return false;
    case Op::wmma:
      return !inst.has(Tok::store);
    case Op::multimem:
      return inst.has(Tok::ld_reduce);
    case Op::clusterlaunchcontrol:
      return inst.has(Tok::query_cancel);
    case Op::bar:
    case Op::barrier:
      return inst.has(Tok::red);
    case Op::mbarrier:
      return inst.has(Tok::arrive) || inst.has(Tok::arrive_drop) || inst.has(Tok::test_wait) ||
             inst.has(Tok::try_wait) || inst.has(Tok::pending_count);
    default:
      return true;
  }
}

bool is_uncond(const Instruction& inst) { return inst.guard == ptx::no_index; }

/// How an instruction ends its node, if it does.
bool leaves(const Graph& graph, const Instruction& inst, Leave& leave) {
  switch (inst.op) {
    case Op::bra:
      leave = is_uncond(inst) ? Leave::branch : Leave::cond;
      return true;
    case Op::brx:
      leave = Leave::indexed;
      return true;
    case Op::ret:
    case Op::exit:
      leave = is_uncond(inst) ? Leave::ret : Leave::cond_ret;
      return true;
    case Op::trap:
      if (!is_uncond(inst)) return false;
      leave = Leave::stop;
      return true;
    default:
      return false;
  }
}

void build_nodes(Graph& graph, Cut cut) {
  const ptx::Function& fn = *graph.function;
  std::vector<NodeId> first(fn.blocks.size());
  std::vector<NodeId> last(fn.blocks.size());
  for (Index b = 0; b < fn.blocks.size(); ++b) {
    const auto& body = fn.blocks[b].body;
    uint32_t begin = 0;
    first[b] = static_cast<NodeId>(graph.nodes.size());
    for (uint32_t i = 0; i < body.size(); ++i) {
      graph.has_barrier |= is_block_barrier(body[i]);
      if (cut == Cut::before_syncs && i > begin &&
          (is_block_barrier(body[i]) || is_warp_sync(body[i]))) {
        const auto after = static_cast<NodeId>(graph.nodes.size() + 1);
        graph.nodes.push_back(Node{b, begin, i, Leave::fall, {after}});
        begin = i;
      }
      if (cut != Cut::after_barriers || !is_block_barrier(body[i]) || body[i].has(Tok::arrive))
        continue;
      Node node{b, begin, i + 1, Leave::barrier, {}};
      node.succ.push_back(static_cast<NodeId>(graph.nodes.size() + 1));
      graph.nodes.push_back(node);
      begin = i + 1;
    }
    last[b] = static_cast<NodeId>(graph.nodes.size());
    graph.nodes.push_back(Node{b, begin, static_cast<uint32_t>(body.size()), Leave::fall, {}});
  }
  for (Index b = 0; b < fn.blocks.size(); ++b) {
    Node& node = graph.nodes[last[b]];
    const auto& block = fn.blocks[b];
    if (node.end > node.begin) leaves(graph, block.body[node.end - 1], node.leave);
    if (node.leave != Leave::ret && node.leave != Leave::stop)
      for (Index s : block.succ) node.succ.push_back(first[s]);
    // Falling off the end of a body is a return.
    if (node.succ.empty() && node.leave != Leave::stop && node.leave != Leave::cond_ret)
      node.leave = Leave::ret;
    if (node.leave == Leave::cond_ret && node.succ.empty()) node.leave = Leave::ret;
    if (node.leave == Leave::cond && node.succ.size() < 2) node.succ.push_back(node.succ[0]);
  }
}

/// A branch to where a kernel does nothing but end is a return: lanes that have left a kernel are
/// not waited for, by barriers or `.sync` instructions.
void return_early(Graph& graph) {
  std::vector<uint8_t> ends(graph.nodes.size(), 0);
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      const bool alone = node.end - node.begin <= (node.leave == Leave::fall ? 0u : 1u);
      if (ends[n] || !alone) continue;
      const Instruction* last = graph.last(node);
      const bool end =
          node.leave == Leave::ret
              ? !last || last->op == Op::ret || last->op == Op::exit
              : (node.leave == Leave::fall || node.leave == Leave::branch) && ends[node.succ[0]];
      if (end) ends[n] = 1, grew = true;
    }
  }
  for (Node& node : graph.nodes) {
    if (node.leave != Leave::cond) continue;
    const bool taken = ends[node.succ[0]] != 0, other = ends[node.succ[1]] != 0;
    if (taken == other) continue;
    node.leave = Leave::cond_ret;
    node.inverted = other;
    node.succ = {node.succ[taken ? 1 : 0]};
  }
}

void build_liveness(Graph& graph) {
  const size_t n = graph.nodes.size();
  std::vector<Bits> use(n, Bits(graph.registers)), def(n, Bits(graph.registers));
  std::vector<Index> uses, defs;
  for (NodeId id = 0; id < n; ++id) {
    const Node& node = graph.nodes[id];
    for (uint32_t i = node.begin; i < node.end; ++i) {
      const Instruction& inst = graph.inst(node, i);
      uses_and_defs(graph, inst, uses, defs);
      for (Index r : uses)
        if (!def[id].has(r)) use[id].add(r);
      // A guarded write keeps the old value where the guard is false: it does not kill.
      if (inst.guard == ptx::no_index) {
        for (Index r : defs) def[id].add(r);
      } else {
        for (Index r : defs)
          if (!def[id].has(r)) use[id].add(r);
      }
    }
  }
  graph.live_in = use;
  bool changed = true;
  while (changed) {
    changed = false;
    for (NodeId id = static_cast<NodeId>(n); id-- > 0;) {
      Bits out(graph.registers);
      for (NodeId s : graph.nodes[id].succ) out.merge(graph.live_in[s]);
      def[id].each([&](size_t r) { out.remove(r); });
      changed |= graph.live_in[id].merge(out);
    }
  }
}

}  // namespace

void uses_and_defs(const Graph& graph, const Instruction& inst, std::vector<Index>& uses,
                   std::vector<Index>& defs) {
  uses.clear();
  defs.clear();
  if (inst.guard != ptx::no_index) uses.push_back(inst.guard);
  size_t start = 0;
  if (writes_first(inst) && !inst.ops.empty()) {
    collect(inst.ops[0], defs);
    start = 1;
  }
  for (size_t i = start; i < inst.ops.size(); ++i) collect(inst.ops[i], uses);
  for (const Operand& o : inst.call_args) collect(o, uses);
  for (const Operand& o : inst.call_returns) collect(o, defs);
  switch (inst.op) {
    case Op::addc:
    case Op::subc:
    case Op::madc:
      uses.push_back(graph.carry());
      break;
    default:
      break;
  }
  if (inst.has(Tok::cc)) defs.push_back(graph.carry());
}

bool is_too_large(const ptx::Function& function, std::string& why) {
  constexpr uint64_t most_bits = uint64_t{1} << 31;  // of one table: 256 MiB
  uint64_t nodes = function.blocks.size();
  for (const ptx::Block& block : function.blocks)
    for (const Instruction& inst : block.body) nodes += is_block_barrier(inst);
  const uint64_t registers = function.registers.size() + 1;
  if (nodes * (nodes + registers) <= most_bits) return false;
  why = "function '" + function.name + "' is too large to compile: " + std::to_string(nodes) +
        " basic blocks, " + std::to_string(registers) + " registers";
  return true;
}

Graph build_graph(const ptx::Function& function, Cut cut) {
  Graph graph;
  graph.function = &function;
  graph.registers = function.registers.size() + 1;
  build_nodes(graph, cut);
  if (function.is_entry) return_early(graph);
  build_liveness(graph);
  return graph;
}

namespace {

/// Dominators by the iterative algorithm over a given order; returns immediate dominators.
std::vector<NodeId> immediate_dominators(const std::vector<std::vector<NodeId>>& preds,
                                         const std::vector<NodeId>& rpo, size_t count) {
  std::vector<NodeId> idom(count, no_node);
  std::vector<uint32_t> number(count, 0);
  for (uint32_t i = 0; i < rpo.size(); ++i) number[rpo[i]] = i;
  auto meet = [&](NodeId a, NodeId b) {
    while (a != b) {
      while (number[a] > number[b]) a = idom[a];
      while (number[b] > number[a]) b = idom[b];
    }
    return a;
  };
  idom[rpo[0]] = rpo[0];
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 1; i < rpo.size(); ++i) {
      NodeId n = rpo[i], best = no_node;
      for (NodeId p : preds[n])
        if (idom[p] != no_node) best = best == no_node ? p : meet(p, best);
      if (best != no_node && idom[n] != best) idom[n] = best, changed = true;
    }
  }
  return idom;
}

std::vector<NodeId> reverse_postorder(const std::vector<std::vector<NodeId>>& succ, NodeId entry) {
  std::vector<NodeId> post;
  std::vector<uint8_t> seen(succ.size(), 0);
  std::vector<std::pair<NodeId, size_t>> stack{{entry, 0}};
  seen[entry] = 1;
  while (!stack.empty()) {
    auto& [n, i] = stack.back();
    if (i < succ[n].size()) {
      NodeId s = succ[n][i++];
      if (!seen[s]) seen[s] = 1, stack.push_back({s, 0});
    } else {
      post.push_back(n);
      stack.pop_back();
    }
  }
  std::reverse(post.begin(), post.end());
  return post;
}

struct Builder {
  const Graph& graph;
  Region& region;
  std::vector<std::vector<NodeId>> preds;
  std::vector<NodeId> rpo;
  std::vector<NodeId> idom;
  Bits tail{};  // nodes that only lead to exits

  bool dominates(NodeId a, NodeId b) const {
    while (b != a) {
      if (idom[b] == b) return false;
      b = idom[b];
    }
    return true;
  }

  void find_loops() {
    const size_t n = graph.nodes.size();
    std::vector<uint32_t> number(n, no_node);
    for (uint32_t i = 0; i < rpo.size(); ++i) number[rpo[i]] = i;
    std::vector<uint32_t> by_header(n, no_node);
    for (NodeId u : rpo)
      for (NodeId h : region.succ[u]) {
        if (number[h] > number[u]) continue;
        if (!dominates(h, u)) {
          region.reducible = false;
          continue;
        }
        if (by_header[h] == no_node) {
          by_header[h] = static_cast<uint32_t>(region.loops.size());
          region.loops.push_back(Loop{h, Bits(n), no_node, 1});
          region.loops.back().nodes.add(h);
        }
        Loop& loop = region.loops[by_header[h]];
        std::vector<NodeId> work;
        if (!loop.nodes.has(u)) loop.nodes.add(u), work.push_back(u);
        while (!work.empty()) {
          NodeId x = work.back();
          work.pop_back();
          for (NodeId p : preds[x])
            if (!loop.nodes.has(p)) loop.nodes.add(p), work.push_back(p);
        }
      }
    nest_loops();
  }

  void nest_loops() {
    auto size_of = [](const Loop& l) {
      size_t c = 0;
      l.nodes.each([&](size_t) { ++c; });
      return c;
    };
    std::vector<size_t> sizes;
    for (const Loop& l : region.loops) sizes.push_back(size_of(l));
    for (uint32_t i = 0; i < region.loops.size(); ++i)
      for (uint32_t j = 0; j < region.loops.size(); ++j) {
        if (i == j || !region.loops[j].nodes.has(region.loops[i].header) || sizes[j] <= sizes[i])
          continue;
        uint32_t& parent = region.loops[i].parent;
        if (parent == no_node || sizes[j] < sizes[parent]) parent = j;
      }
    region.loop_of.assign(graph.nodes.size(), no_node);
    for (NodeId x : rpo)
      for (uint32_t i = 0; i < region.loops.size(); ++i)
        if (region.loops[i].nodes.has(x) &&
            (region.loop_of[x] == no_node || sizes[i] < sizes[region.loop_of[x]]))
          region.loop_of[x] = i;
    for (Loop& l : region.loops)
      for (uint32_t p = l.parent; p != no_node; p = region.loops[p].parent) ++l.depth;
  }

  /// Kahn's algorithm that stays inside the innermost open loop as long as it has ready nodes, so
  /// that a loop's nodes are contiguous; barrier nodes outside loops come last.
  void make_order() {
    const size_t n = graph.nodes.size();
    std::vector<uint32_t> number(n, no_node);
    for (uint32_t i = 0; i < rpo.size(); ++i) number[rpo[i]] = i;
    std::vector<uint32_t> waiting(n, 0);
    for (NodeId u : rpo)
      for (NodeId s : region.flow[u])
        if (!is_back_edge(u, s)) ++waiting[s];
    std::vector<NodeId> ready{region.entry};
    std::vector<uint32_t> open;  // loops entered and not finished
    std::vector<size_t> left;    // nodes left, by loop
    for (const Loop& l : region.loops) {
      size_t c = 0;
      l.nodes.each([&](size_t) { ++c; });
      left.push_back(c);
    }
    while (!ready.empty()) {
      while (!open.empty() && left[open.back()] == 0) open.pop_back();
      size_t best = ready.size();
      for (size_t i = 0; i < ready.size(); ++i) {
        if (!open.empty() && !region.loops[open.back()].nodes.has(ready[i])) continue;
        if (best == ready.size() || better(ready[i], ready[best], number)) best = i;
      }
      if (best == ready.size()) {
        // Only an exit tail inside a loop waits here (or the region is irreducible, and nobody
        // will use the order): tails first, so that the loop's other nodes stay together.
        best = 0;
        for (size_t i = 1; i < ready.size(); ++i)
          if (tail.has(ready[i]) && !tail.has(ready[best])) best = i;
      }
      NodeId u = ready[best];
      ready.erase(ready.begin() + static_cast<long>(best));
      region.position[u] = static_cast<uint32_t>(region.order.size());
      region.order.push_back(u);
      for (uint32_t i = 0; i < region.loops.size(); ++i)
        if (region.loops[i].nodes.has(u)) --left[i];
      if (region.loop_of[u] != no_node && region.loops[region.loop_of[u]].header == u)
        open.push_back(region.loop_of[u]);
      for (NodeId s : region.flow[u])
        if (!is_back_edge(u, s) && --waiting[s] == 0) ready.push_back(s);
    }
    if (region.order.size() != rpo.size()) {  // irreducible leftovers
      for (NodeId u : rpo)
        if (region.position[u] == no_node) {
          region.position[u] = static_cast<uint32_t>(region.order.size());
          region.order.push_back(u);
        }
    }
  }

  bool better(NodeId a, NodeId b, const std::vector<uint32_t>& number) const {
    bool bar_a = graph.nodes[a].leave == Leave::barrier,
         bar_b = graph.nodes[b].leave == Leave::barrier;
    if (bar_a != bar_b) return bar_b;
    return number[a] < number[b];
  }

  bool is_back_edge(NodeId u, NodeId s) const { return dominates(s, u); }

  /// Nodes from which the region's main way out cannot be reached only lead to exits. Their ends
  /// get a pseudo edge to where the other lanes of the deciding branch go on, so that
  /// post-dominance (and with it the mask) is not widened to everything after an early exit.
  void add_pseudo_edges() {
    const size_t n = graph.nodes.size();
    Bits main(n);
    std::vector<NodeId> work;
    bool barrier = false;
    for (NodeId u : rpo) barrier |= graph.nodes[u].leave == Leave::barrier;
    NodeId main_ret = no_node;
    for (NodeId u : rpo)
      if (region.succ[u].empty() && graph.nodes[u].leave == Leave::ret) main_ret = u;
    // A persistent kernel's loop may end by returns inside it only; a trap is no way out then
    // either.
    auto leads_out = [&](NodeId u) {
      if (barrier) return graph.nodes[u].leave == Leave::barrier;
      return main_ret == no_node ? graph.nodes[u].leave == Leave::cond_ret : u == main_ret;
    };
    for (NodeId u : rpo)
      if (leads_out(u)) main.add(u), work.push_back(u);
    if (work.empty()) return;
    while (!work.empty()) {
      NodeId u = work.back();
      work.pop_back();
      for (NodeId p : preds[u])
        if (!main.has(p)) main.add(p), work.push_back(p);
    }
    for (NodeId u : rpo)
      if (!main.has(u)) tail.add(u);
    for (NodeId u : rpo) {
      if (!main.has(u) || region.succ[u].size() < 2) continue;
      for (NodeId t : region.succ[u]) {
        if (main.has(t)) continue;
        for (NodeId f : region.succ[u])
          if (main.has(f)) link_tail(t, f);
      }
    }
  }

  void link_tail(NodeId tail, NodeId target) {
    Bits seen(graph.nodes.size());
    std::vector<NodeId> work{tail};
    seen.add(tail);
    while (!work.empty()) {
      NodeId u = work.back();
      work.pop_back();
      if (region.succ[u].empty()) {
        // Never a pseudo edge backwards: the tail must come before its target in the order.
        if (std::find(region.flow[u].begin(), region.flow[u].end(), target) == region.flow[u].end())
          region.flow[u].push_back(target);
      }
      for (NodeId s : region.succ[u])
        if (!seen.has(s)) seen.add(s), work.push_back(s);
    }
  }

  void find_post_dominators() {
    const size_t n = graph.nodes.size();
    const NodeId exit = static_cast<NodeId>(n);
    std::vector<std::vector<NodeId>> reversed(n + 1), forward(n + 1);
    for (NodeId u : rpo) {
      for (NodeId s : region.flow[u]) reversed[s].push_back(u), forward[u].push_back(s);
      if (region.flow[u].empty()) reversed[exit].push_back(u), forward[u].push_back(exit);
    }
    // Endless loops never reach the exit: tie a node of each to it, one that returns if there is
    // any.
    for (;;) {
      std::vector<NodeId> order = reverse_postorder(reversed, exit);
      Bits reached(n + 1);
      for (NodeId u : order) reached.add(u);
      NodeId stuck = no_node;
      for (NodeId u : rpo)
        if (!reached.has(u) && (stuck == no_node || graph.nodes[u].leave == Leave::cond_ret ||
                                graph.nodes[stuck].leave != Leave::cond_ret))
          stuck = u;
      if (stuck == no_node) {
        auto ip = immediate_dominators(forward, order, n + 1);
        region.ipdom.assign(n, no_node);
        for (NodeId u : rpo) region.ipdom[u] = ip[u] == exit ? no_node : ip[u];
        return;
      }
      reversed[exit].push_back(stuck);
      forward[stuck].push_back(exit);
    }
  }
};

}  // namespace

Region build_region(const Graph& graph, NodeId entry) {
  const size_t n = graph.nodes.size();
  Region region;
  region.entry = entry;
  region.succ.resize(n);
  region.position.assign(n, no_node);
  for (NodeId u = 0; u < n; ++u)
    if (graph.nodes[u].leave != Leave::barrier) {
      for (NodeId s : graph.nodes[u].succ)
        if (std::find(region.succ[u].begin(), region.succ[u].end(), s) == region.succ[u].end())
          region.succ[u].push_back(s);
    }
  Builder builder{graph, region, std::vector<std::vector<NodeId>>(n), {}, {}, Bits(n)};
  builder.rpo = reverse_postorder(region.succ, entry);
  for (NodeId u : builder.rpo)
    for (NodeId s : region.succ[u]) builder.preds[s].push_back(u);
  builder.idom = immediate_dominators(builder.preds, builder.rpo, n);
  builder.find_loops();
  region.flow = region.succ;
  // Pseudo edges may only go forwards; they are dropped when they would close a cycle.
  auto plain = region.flow;
  builder.add_pseudo_edges();
  auto order = reverse_postorder(region.flow, entry);
  std::vector<uint32_t> number(n, no_node);
  for (uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  for (NodeId u : order) {
    if (region.flow[u].size() == plain[u].size()) continue;
    std::vector<NodeId> kept = plain[u];
    for (size_t i = plain[u].size(); i < region.flow[u].size(); ++i)
      if (number[region.flow[u][i]] > number[u]) kept.push_back(region.flow[u][i]);
    region.flow[u] = kept;
  }
  builder.make_order();
  builder.find_post_dominators();
  return region;
}

Bits reach(const Region& region, NodeId from, NodeId stop) {
  Bits seen(region.succ.size());
  if (from == stop) return seen;
  std::vector<NodeId> work{from};
  seen.add(from);
  while (!work.empty()) {
    const NodeId u = work.back();
    work.pop_back();
    for (NodeId s : region.succ[u])
      if (s != stop && !seen.has(s)) seen.add(s), work.push_back(s);
  }
  return seen;
}

bool has_block_barrier(const Graph& graph, NodeId node) {
  const Node& n = graph.nodes[node];
  for (uint32_t i = n.begin; i < n.end; ++i) {
    const Instruction& inst = graph.inst(n, i);
    if ((inst.op == Op::bar || inst.op == Op::barrier) && !inst.has(Tok::warp)) return true;
  }
  return false;
}

}  // namespace limen::simt
