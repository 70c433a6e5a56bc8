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

Bits choose_whole(const Plan& plan, const RegionPlan& rp, bool live_full) {
  const Graph& g = plan.graph;
  Bits chosen(g.nodes.size());
  if (plan.launch.scalar) return chosen;
  struct Part {
    Bits nodes;
    uint32_t instructions = 0;
    bool memory = false;
  };
  // By masked component; the last part is the code outside of all, which needs no second version
  // where no lane can have left.
  const size_t outside = rp.component_end.size();
  std::vector<Part> parts(outside + 1);
  for (Part& p : parts) p.nodes = Bits(g.nodes.size());
  for (NodeId n : rp.region.order) {
    const bool masked = rp.masked.has(n);
    if (!masked && live_full) continue;
    Part& p = parts[masked ? rp.component[n] : outside];
    p.nodes.add(n);
    p.instructions += g.nodes[n].end - g.nodes[n].begin;
    for (uint32_t i = g.nodes[n].begin; i < g.nodes[n].end; ++i)
      p.memory |= touches_memory(g.inst(g.nodes[n], i));
  }
  // Without memory accesses masks cost little: a blend here and there.
  std::erase_if(parts, [](const Part& p) { return !p.memory; });
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
