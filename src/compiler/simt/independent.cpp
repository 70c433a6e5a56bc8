// Lanes of a warp that may wait for each other; see independent.h and docs/design/simt.md.
#include "compiler/simt/independent.h"

#include <algorithm>

namespace limen::simt {

using ptx::Index;
using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;

namespace {

/// Does its result follow from its operands alone, whenever it is done?
bool is_timeless(const Graph& graph, const Instruction& inst) {
  if (inst.guard != ptx::no_index) return false;
  for (const Operand& o : inst.ops)
    if (o.kind == Operand::Kind::sreg) return false;
  switch (inst.op) {
    case Op::mov:
    case Op::cvt:
    case Op::cvta:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::mad:
    case Op::fma:
    case Op::min:
    case Op::max:
    case Op::neg:
    case Op::abs:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
    case Op::shl:
    case Op::shr:
    case Op::bfe:
    case Op::bfi:
    case Op::prmt:
    case Op::lop3:
    case Op::setp:
    case Op::selp:
      return true;
    case Op::ld:  // a kernel's own parameters
      return graph.function->is_entry && inst.has(Tok::param) &&
             inst.ops[1].symbol_kind == Operand::SymbolKind::param;
    default:
      return false;
  }
}

/// Registers that get the same value each time a node of component `c` writes them, and are
/// written nowhere else: whichever lanes write them, those past it find what they had.
Bits constants_of(const Graph& graph, const RegionPlan& rp, uint32_t c) {
  std::vector<uint32_t> writes(graph.registers, 0);
  Bits inside(graph.registers), constant(graph.registers);
  std::vector<Index> uses, defs;
  const auto each_inst = [&](auto&& f) {
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
      for (uint32_t i = graph.nodes[n].begin; i < graph.nodes[n].end; ++i) {
        const Instruction& inst = graph.inst(graph.nodes[n], i);
        uses_and_defs(graph, inst, uses, defs);
        f(inst, rp.component[n] == c);
      }
  };
  each_inst([&](const Instruction& inst, bool in) {
    for (Index d : defs) {
      ++writes[d];
      if (in) inside.add(d);
      if (in && is_timeless(graph, inst)) constant.add(d);
    }
  });
  // What comes in from outside (from the last round of a loop around it) is needed as it was.
  for (NodeId n : rp.region.order)
    for (NodeId s : rp.region.succ[n])
      if (rp.component[n] != c && rp.component[s] == c)
        graph.live_in[s].each([&](size_t r) { constant.remove(r); });
  if (rp.component[rp.region.entry] == c)
    graph.live_in[rp.region.entry].each([&](size_t r) { constant.remove(r); });
  for (bool changed = true; changed;) {
    changed = false;
    each_inst([&](const Instruction&, bool in) {
      if (!in) return;
      for (Index d : defs) {
        if (!constant.has(d)) continue;
        const bool same = writes[d] == 1 && std::all_of(uses.begin(), uses.end(), [&](Index u) {
                            return !inside.has(u) || constant.has(u);
                          });
        if (!same) constant.remove(d), changed = true;
      }
    });
  }
  return constant;
}

}  // namespace

bool meet_later(const Plan& plan, const Region& r, const Bits& masked, std::vector<NodeId>& meets) {
  const Graph& graph = plan.graph;
  bool moved = false;
  for (const Loop& wait : plan.waits.loops) {
    if (!masked.has(wait.header)) continue;
    std::vector<NodeId>
        behind;  // what all lanes come to after the loop's header, up to the barrier
    for (NodeId n = r.ipdom[wait.header]; n != no_node; n = r.ipdom[n]) {
      behind.push_back(n);
      const Node& node = graph.nodes[n];
      if (node.end > node.begin && needs_whole_block(graph.inst(node, node.begin))) break;
    }
    NodeId barrier = no_node;
    if (!behind.empty()) {
      const Node& node = graph.nodes[behind.back()];
      if (node.end > node.begin && needs_whole_block(graph.inst(node, node.begin)))
        barrier = behind.back();
    }
    for (NodeId x : r.order) {
      if (!diverges(plan, r, x) || meets[x] == barrier || meets[x] == no_node) continue;
      if (std::find(behind.begin(), behind.end(), meets[x]) == behind.end() &&
          !wait.nodes.has(meets[x]))
        continue;
      bool around = wait.nodes.has(x);
      for (NodeId s : r.succ[x]) around |= reach(r, s, meets[x]).has(wait.header);
      if (!around) continue;
      meets[x] = barrier;
      moved = true;
    }
  }
  return moved;
}

void choose_independent(const Plan& plan, RegionPlan& rp, std::string& why) {
  const Graph& graph = plan.graph;
  for (const Loop& wait : plan.waits.loops) {
    if (!rp.masked.has(wait.header)) continue;  // all go round and leave together
    rp.waits.add(wait.header);
    rp.independent[rp.component[wait.header]] = true;
  }
  rp.masked.each([&](size_t b) {
    const auto n = static_cast<NodeId>(b);
    const Node& node = graph.nodes[n];
    if (!rp.independent[rp.component[n]] || node.end == node.begin) return;
    if (has_block_barrier(graph, n)) why = "lanes may wait for each other beside a barrier";
    if (is_warp_sync(graph.inst(node, node.begin))) rp.syncs.add(n);
  });
}

void keep_for_independent(const Graph& graph, RegionPlan& rp) {
  for (uint32_t c = 0; c < rp.independent.size(); ++c) {
    if (!rp.independent[c]) continue;
    Bits live(graph.registers);
    if (rp.component_end[c] != no_node) live.merge(graph.live_in[rp.component_end[c]]);
    const auto each_node = [&](auto&& f) {
      rp.masked.each([&](size_t n) {
        if (rp.component[n] == c) f(n);
      });
    };
    each_node([&](size_t n) { live.merge(graph.live_in[n]); });
    constants_of(graph, rp, c).each([&](size_t r) { live.remove(r); });
    each_node([&](size_t n) { rp.keep[n] = live; });
  }
}

}  // namespace limen::simt
