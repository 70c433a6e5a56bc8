// Which nodes get a second version, for warps whose lanes are all there. See whole.h.
#include "compiler/simt/whole.h"

#include <algorithm>

namespace limen::simt {

using ptx::Instruction;
using ptx::Op;
using ptx::Tok;

namespace {

/// PTX instructions of a region that may be made twice: LLVM's time is the price.
constexpr uint32_t most_instructions = 400;

/// Does the branch at the node's end let lanes part by their own data, not by their place? Then
/// they part soon, and going to and fro between the versions costs more than masks.
bool parts_by_data(const Plan& plan, const Node& node) {
  const Instruction* last = plan.graph.last(node);
  if (node.leave != Leave::cond || !last || last->guard == ptx::no_index) return false;
  if (!plan.shapes[last->guard].varying()) return false;
  const Instruction* setp = deciding_comparison(plan.graph, node, last->guard);
  if (!setp) return true;
  auto shape = [&](const ptx::Operand& o) {
    return shape_of_operand(o, plan.shapes, plan.launch, *plan.graph.function,
                            static_cast<uint32_t>(bits_of(setp->type())));
  };
  return !shape(setp->ops[1]).shaped() || !shape(setp->ops[2]).uniform();
}

bool touches_memory(const Instruction& inst) {
  switch (inst.op) {
    case Op::ld:
    case Op::ldu:
    case Op::st:
    case Op::atom:
    case Op::red:
      return !inst.has(Tok::param) && !inst.has(Tok::param__entry) && !inst.has(Tok::param__func);
    default:
      return false;
  }
}

}  // namespace

const Instruction* deciding_comparison(const Graph& graph, const Node& node, ptx::Index guard) {
  std::vector<ptx::Index> uses, defs, later;
  for (uint32_t i = node.end - 1; i-- > node.begin;) {
    const Instruction& inst = graph.inst(node, i);
    uses_and_defs(graph, inst, uses, defs);
    if (std::find(defs.begin(), defs.end(), guard) == defs.end()) {
      later.insert(later.end(), defs.begin(), defs.end());
      continue;
    }
    const bool plain = inst.op == Op::setp && inst.guard == ptx::no_index && inst.ops.size() == 3 &&
                       inst.ops[0].kind == ptx::Operand::Kind::reg;
    if (!plain) return nullptr;
    for (ptx::Index u : uses)
      if (std::find(later.begin(), later.end(), u) != later.end()) return nullptr;
    return &inst;
  }
  return nullptr;
}

Bits choose_whole(const Plan& plan, const RegionPlan& rp, bool live_full) {
  const Graph& g = plan.graph;
  Bits chosen(g.nodes.size());
  if (plan.launch.scalar) return chosen;
  struct Part {
    Bits nodes;
    uint32_t instructions = 0;
    bool memory = false;
    bool by_data = false;
  };
  // By masked component; the last part is the code outside of all, which needs no second version
  // where no lane can have left.
  const size_t outside = rp.component_end.size();
  std::vector<Part> parts(outside + 1);
  for (Part& p : parts) p.nodes = Bits(g.nodes.size());
  for (NodeId n : rp.region.order) {
    const bool masked = rp.masked.has(n);
    if (!masked && live_full) continue;
    if (masked && rp.independent[rp.component[n]]) continue;  // its lanes are seldom together
    Part& p = parts[masked ? rp.component[n] : outside];
    p.nodes.add(n);
    p.by_data |= masked && parts_by_data(plan, g.nodes[n]);
    p.instructions += g.nodes[n].end - g.nodes[n].begin;
    for (uint32_t i = g.nodes[n].begin; i < g.nodes[n].end; ++i)
      p.memory |= touches_memory(g.inst(g.nodes[n], i));
  }
  // Without memory accesses masks cost little: a blend here and there.
  std::erase_if(parts, [](const Part& p) { return !p.memory || p.by_data; });
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.instructions < b.instructions; });
  uint32_t left = most_instructions;
  for (const Part& p : parts) {
    if (p.instructions > left) break;
    left -= p.instructions;
    chosen.merge(p.nodes);
  }
  return chosen;
}

}  // namespace limen::simt
