// See subnormals.h.
#include "compiler/simt/subnormals.h"

#include "compiler/simt/nans.h"
#include "compiler/simt/shape.h"

namespace limen::simt {

namespace {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;

/// The result comes from outside the function: no constant.
bool is_outside(const Instruction& inst) {
  switch (inst.op) {
    case Op::ld:
    case Op::ldu:
    case Op::atom:
    case Op::tex:
    case Op::tld4:
    case Op::suld:
      return true;
    default:
      return false;
  }
}

bool copies(const Instruction& inst) {
  return (inst.op == Op::mov || inst.op == Op::selp) && inst.type_count == 1 &&
         bits_of(inst.type()) == 32 && inst.ops[0].kind == Operand::Kind::reg &&
         inst.ops[1].kind != Operand::Kind::vector;
}

bool is_subnormal(const Operand& o, const Bits& found) {
  if (o.kind == Operand::Kind::reg) return found.has(o.index);
  if (o.kind != Operand::Kind::imm) return true;
  const auto magnitude = static_cast<uint32_t>(o.bits) & 0x7fffffff;
  return o.imm_is_f64 || (magnitude != 0 && magnitude < 0x00800000);
}

}  // namespace

Bits subnormal_constants(const Graph& graph) {
  Bits found(graph.registers);
  std::vector<Index> uses, defs;
  for (bool grew = true; grew;) {
    grew = false;
    for (const ptx::Block& block : graph.function->blocks)
      for (const Instruction& inst : block.body) {
        if (makes_canonical_nan(inst) || is_outside(inst)) continue;
        if (copies(inst)) {
          bool any = false;
          for (size_t i = 1, end = inst.op == Op::selp ? 3 : 2; i < end; ++i)
            any |= is_subnormal(inst.ops[i], found);
          if (!any) continue;
        }
        uses_and_defs(graph, inst, uses, defs);
        for (Index d : defs)
          if (!found.has(d)) found.add(d), grew = true;
      }
  }
  return found;
}

}  // namespace limen::simt
