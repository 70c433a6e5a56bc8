// See find_widenings.h. Nothing moves: each instruction is replaced where it stands, and only where
// the register between the shifts has no other definition or reader.
#include "compiler/simt/find_widenings.h"

#include "compiler/simt/plan.h"

namespace limen::simt {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

namespace {

constexpr int64_t cut_bits = 32;

bool shifts_register(const Instruction& inst, Op op) {
  return inst.op == op && inst.type_count == 1 && inst.ops.size() == 3 &&
         ptx::size_of(inst.type()) == 8 && inst.ops[0].kind == Operand::Kind::reg &&
         inst.ops[1].kind == Operand::Kind::reg && inst.ops[2].kind == Operand::Kind::imm &&
         !inst.ops[2].imm_is_float;
}

/// What is known of a register that may stand between two shifts.
struct Between {
  Instruction* cut = nullptr;
  std::vector<Instruction*> readers;
  bool other = false;  ///< another definition, or a reader that is no such shift
};

}  // namespace

void find_widenings(ptx::Function& function) {
  const size_t count = function.registers.size();
  std::vector<Between> registers(count);
  Graph carry;  // only says which register is the carry flag
  carry.registers = count + 1;
  std::vector<Index> uses, defs;
  auto is_64 = [&](Index r) {
    return function.registers[r].vector == 1 && ptx::size_of(function.registers[r].type) == 8;
  };
  for (ptx::Block& block : function.blocks)
    for (Instruction& inst : block.body) {
      uses_and_defs(carry, inst, uses, defs);
      const bool plain = inst.guard == ptx::no_index;
      const bool cuts = plain && shifts_register(inst, Op::shl) && inst.ops[2].bits == cut_bits &&
                        is_64(inst.ops[0].index) && is_64(inst.ops[1].index) &&
                        inst.ops[0].index != inst.ops[1].index;
      const bool widens = shifts_register(inst, Op::shr) && inst.ops[2].bits >= 0 &&
                          inst.ops[2].bits <= cut_bits && is_64(inst.ops[0].index) &&
                          inst.ops[0].index != inst.ops[1].index;
      for (Index d : defs) {
        if (d >= count) continue;
        Between& b = registers[d];
        if (cuts && !b.cut)
          b.cut = &inst;
        else
          b.other = true;
      }
      for (Index u : uses) {
        if (u >= count) continue;
        Between& b = registers[u];
        if (widens && u == inst.ops[1].index && inst.guard != u)
          b.readers.push_back(&inst);
        else
          b.other = true;
      }
    }
  for (Between& b : registers) {
    if (!b.cut || b.other || b.readers.empty()) continue;
    const bool is_signed = ptx::is_signed(b.readers[0]->type());
    bool alike = true;
    for (const Instruction* reader : b.readers)
      alike &= ptx::is_signed(reader->type()) == is_signed;
    if (!alike) continue;
    b.cut->op = Op::cvt;
    b.cut->type_count = 2;
    b.cut->types = {is_signed ? Type::s64 : Type::u64, is_signed ? Type::s32 : Type::u32};
    b.cut->ops.pop_back();
    for (Instruction* reader : b.readers) {
      reader->op = Op::shl;
      reader->types[0] = Type::b64;
      reader->ops[2].bits = cut_bits - reader->ops[2].bits;
    }
  }
}

}  // namespace limen::simt
