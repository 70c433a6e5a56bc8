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

/// Is number `r`, as instruction `before` of the node finds it, made by `and` and `or` of the
/// lanes' places?
bool joins_places(const Plan& plan, const Node& node, ptx::Index r, uint32_t before, int depth) {
  if (plan.shapes[r].shaped()) return true;
  std::vector<ptx::Index> uses, defs;
  while (before > node.begin) {
    const Instruction& inst = plan.graph.inst(node, --before);
    uses_and_defs(plan.graph, inst, uses, defs);
    if (std::find(defs.begin(), defs.end(), r) == defs.end()) continue;
    if ((inst.op != Op::and_ && inst.op != Op::or_) || inst.guard != ptx::no_index || depth > 8)
      return false;
    return std::all_of(uses.begin(), uses.end(), [&](ptx::Index u) {
      return joins_places(plan, node, u, before, depth + 1);
    });
  }
  return false;
}

/// Does predicate `p`, as instruction `before` of the node finds it, follow from comparisons of the
/// lanes' places with what is the same in all?
bool follows_from_place(const Plan& plan, const Node& node, ptx::Index p, uint32_t before,
                        int depth) {
  std::vector<ptx::Index> uses, defs;
  for (bool here = true; here;) {
    here = before > node.begin;
    // Else written in another node; what never changes is known all the same.
    if (!here && !plan.constants.has(p)) return false;
    const Instruction& inst = here ? plan.graph.inst(node, --before) : *plan.constants.write[p];
    uses_and_defs(plan.graph, inst, uses, defs);
    if (std::find(defs.begin(), defs.end(), p) == defs.end()) continue;
    if (inst.guard != ptx::no_index || depth > 16) return false;
    const auto operand = [&](size_t k) {
      const ptx::Operand& o = inst.ops[k];
      if (o.kind != ptx::Operand::Kind::reg) return true;  // a constant
      return !plan.shapes[o.index].varying() ||
             follows_from_place(plan, node, o.index, before, depth + 1);
    };
    const auto shape = [&](size_t k) {
      return shape_of_operand(inst.ops[k], plan.shapes, plan.launch, *plan.graph.function,
                              static_cast<uint32_t>(bits_of(inst.type())));
    };
    switch (inst.op) {
      case Op::setp: {
        if (inst.ops[0].kind != ptx::Operand::Kind::reg || ptx::is_float(inst.type())) return false;
        const Shape a = shape(1), b = shape(2);
        const bool of_signs = tests_sign(inst) && inst.ops[1].kind == ptx::Operand::Kind::reg &&
                              joins_places(plan, node, inst.ops[1].index, before, 0);
        if (!of_signs && !(a.shaped() && b.uniform()) && !(a.uniform() && b.shaped())) return false;
        return inst.ops.size() == 3 || operand(3);
      }
      case Op::and_:
      case Op::or_:
      case Op::xor_:
        return operand(1) && operand(2);
      case Op::not_:
      case Op::mov:
        return operand(1);
      default:
        return false;
    }
  }
  return false;
}

/// Does the branch at the node's end let lanes part by their own data, not by their place? Then
/// they part soon, and going to and fro between the versions costs more than masks.
bool parts_by_data(const Plan& plan, const Node& node) {
  const Instruction* last = plan.graph.last(node);
  if (node.leave != Leave::cond || !last || last->guard == ptx::no_index) return false;
  if (!plan.shapes[last->guard].varying()) return false;
  return !follows_from_place(plan, node, last->guard, node.end - 1, 0);
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

bool tests_sign(const Instruction& setp) {
  const ptx::Operand& zero = setp.ops[2];
  return (setp.type() == ptx::Type::s32 || setp.type() == ptx::Type::s64) &&
         (setp.has(Tok::lt) || setp.has(Tok::ge)) && zero.kind == ptx::Operand::Kind::imm &&
         zero.bits == 0;
}

Bits choose_whole(const Plan& plan, const RegionPlan& rp, const Bits& none_left) {
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
    if (!masked && none_left.has(n)) continue;
    if (masked && rp.independent[rp.component[n]]) continue;  // its lanes are seldom together
    Part& p = parts[masked ? rp.component[n] : outside];
    p.nodes.add(n);
    p.by_data |= masked && parts_by_data(plan, g.nodes[n]);
    p.instructions += g.nodes[n].end - g.nodes[n].begin;
    for (uint32_t i = g.nodes[n].begin; i < g.nodes[n].end; ++i)
      p.memory |= touches_memory(g.inst(g.nodes[n], i));
  }
  const Part around = parts[outside];
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
  // So that the way to them asks no mask either.
  if (chosen.any() && around.instructions <= left) chosen.merge(around.nodes);
  return chosen;
}

}  // namespace limen::simt
