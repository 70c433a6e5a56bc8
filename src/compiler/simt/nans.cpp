// See nans.h.
#include "compiler/simt/nans.h"

#include "compiler/simt/shape.h"

namespace limen::simt {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;
using ptx::Type;

namespace {

bool is_arithmetic(Op op) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::fma:
    case Op::mad:
    case Op::div:
    case Op::rcp:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::neg:
    case Op::abs:
    case Op::min:
    case Op::max:
    case Op::ex2:
    case Op::lg2:
    case Op::sin:
    case Op::cos:
    case Op::tanh:
      return true;
    default:
      return false;
  }
}

bool is_half(Type t) { return t == Type::f16 || t == Type::bf16; }

/// Copies 32 bits of registers or constants unchanged.
bool is_copy(const Instruction& inst) {
  if (inst.op != Op::mov && inst.op != Op::selp) return false;
  return inst.type_count == 1 && bits_of(inst.type()) == 32 &&
         inst.ops[0].kind == Operand::Kind::reg;
}

/// Sums and multiply-adds rounded to nearest: LLVM folds negated operands into the instruction.
bool is_sum(const Instruction& inst) {
  const bool directed = inst.has(Tok::rz) || inst.has(Tok::rm) || inst.has(Tok::rp);
  return !directed &&
         (inst.op == Op::add || inst.op == Op::sub || inst.op == Op::fma || inst.op == Op::mad);
}

/// Operands that a copy takes its value from: [1, end).
size_t sources_end(const Instruction& inst) { return inst.op == Op::selp ? 3 : 2; }

bool is_nan_pattern(const Operand& o) {
  const auto bits = static_cast<uint32_t>(o.bits);
  return !o.imm_is_f64 && (bits & 0x7fffffffu) > 0x7f800000u;
}

}  // namespace

bool makes_canonical_nan(const Instruction& inst) {
  if (inst.op == Op::cvt) {
    if (inst.type(0) != Type::f32) return false;
    if (inst.type(1) == Type::f16) return true;
    const bool moves = !inst.has(Tok::ftz) && !inst.has(Tok::rni) && !inst.has(Tok::rzi) &&
                       !inst.has(Tok::rmi) && !inst.has(Tok::rpi);
    return (inst.type(1) == Type::f32 || inst.type(1) == Type::bf16) && !moves;
  }
  return inst.type_count == 1 && inst.type() == Type::f32 && is_arithmetic(inst.op);
}

bool reads_nan_bits(const NanPlan& plan, const Instruction& inst) {
  if (inst.type_count == 0 || inst.has(Tok::xorsign)) return true;
  const Type last = inst.type(inst.type_count - 1);
  if (is_copy(inst)) return !plan.raw.has(inst.ops[0].index);
  if (inst.op == Op::setp || inst.op == Op::set || inst.op == Op::testp)
    return last != Type::f32 && last != Type::f64;
  if (inst.op == Op::cvt)
    return last != Type::f32 ||
           !(makes_canonical_nan(inst) || inst.has(Tok::sat) || ptx::is_int(inst.type(0)) ||
             is_half(inst.type(0)));
  return !is_arithmetic(inst.op) || (last != Type::f32 && last != Type::f64);
}

NanPlan plan_nans(const Graph& graph) {
  const ptx::Function& fn = *graph.function;
  NanPlan plan{Bits(graph.registers), Bits(graph.registers), Bits(graph.registers)};
  std::vector<Index> uses, defs;
  auto each = [&](auto&& f) {
    for (const ptx::Block& block : fn.blocks)
      for (const Instruction& inst : block.body) f(inst);
  };

  // Candidates: what an f32 result reaches through copies ...
  for (bool grew = true; grew;) {
    grew = false;
    each([&](const Instruction& inst) {
      bool reached = makes_canonical_nan(inst);
      if (!reached && is_copy(inst))
        for (size_t i = 1; i < sources_end(inst); ++i)
          reached |= inst.ops[i].kind == Operand::Kind::reg && plan.raw.has(inst.ops[i].index);
      if (!reached || inst.ops[0].kind != Operand::Kind::reg) return;
      const Index d = inst.ops[0].index;
      if (plan.raw.has(d) || bits_of(fn.registers[d].type) != 32) return;
      plan.raw.add(d);
      grew = true;
    });
  }
  // ... less what also holds something else.
  for (bool shrank = true; shrank;) {
    shrank = false;
    each([&](const Instruction& inst) {
      if (makes_canonical_nan(inst)) return;
      if (is_copy(inst)) {
        bool same = true;
        for (size_t i = 1; i < sources_end(inst); ++i) {
          const Operand& o = inst.ops[i];
          same &= o.kind == Operand::Kind::reg   ? plan.raw.has(o.index)
                  : o.kind == Operand::Kind::imm ? !is_nan_pattern(o)
                                                 : false;
        }
        if (same) return;
      }
      uses_and_defs(graph, inst, uses, defs);
      for (Index d : defs)
        if (plan.raw.has(d)) plan.raw.remove(d), shrank = true;
    });
  }

  Bits valued(graph.registers), elsewhere(graph.registers);
  each([&](const Instruction& inst) {
    uses_and_defs(graph, inst, uses, defs);
    const bool compares = inst.op == Op::setp || inst.op == Op::set || inst.op == Op::testp ||
                          (inst.op == Op::cvt && ptx::is_int(inst.type(0)));
    for (Index u : uses) {
      if (!compares) valued.add(u);
      if (!is_sum(inst)) elsewhere.add(u);
    }
  });
  for (size_t r = 0; r < graph.registers; ++r) {
    if (!valued.has(r)) plan.compared.add(r);
    if (!elsewhere.has(r)) plan.summed.add(r);
  }
  return plan;
}

}  // namespace limen::simt
