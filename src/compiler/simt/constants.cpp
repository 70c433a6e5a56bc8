// See constants.h.
#include "compiler/simt/constants.h"

#include <algorithm>

namespace limen::simt {

using ptx::Index;
using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::SReg;
using ptx::Tok;

namespace {

/// Instructions to compute a value again: about as many as a vector costs to save and to load.
constexpr uint32_t most_cost = 8;

/// What an operand costs that is no register; 0: it may change, or is no number.
uint32_t cost_of_source(const Operand& o, const ptx::Function& function) {
  switch (o.kind) {
    case Operand::Kind::imm:
      return 1;
    case Operand::Kind::sreg:
      switch (o.sreg) {
        case SReg::tid:
        case SReg::ntid:
        case SReg::ctaid:
        case SReg::nctaid:
        case SReg::laneid:
        case SReg::warpid:
        case SReg::nwarpid:
          return 2;
        default:
          return 0;
      }
    case Operand::Kind::symbol:
      if (o.symbol_kind == Operand::SymbolKind::variable) return 2;
      return o.symbol_kind == Operand::SymbolKind::local_variable &&
                     function.locals[o.index].space == Space::shared
                 ? 2
                 : 0;
    default:
      return 0;
  }
}

/// Integer instructions without side effects whose result follows from their operands.
bool computes(const Instruction& inst) {
  if (inst.has(Tok::cc) || inst.has(Tok::sat)) return false;
  for (size_t i = 0; i < inst.type_count; ++i)
    if (!ptx::is_int(inst.type(i)) && inst.type(i) != ptx::Type::pred) return false;
  switch (inst.op) {
    case Op::mov:
    case Op::cvt:
    case Op::cvta:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::mad:
    case Op::neg:
    case Op::not_:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::shl:
    case Op::shr:
    case Op::setp:
      return true;
    default:
      return false;
  }
}

bool reads_parameter(const Instruction& inst) {
  return inst.op == Op::ld && inst.has(Tok::param) && inst.ops[1].kind == Operand::Kind::address &&
         inst.ops[1].symbol_kind == Operand::SymbolKind::param && ptx::is_int(inst.type());
}

}  // namespace

Constants find_constants(const Graph& graph, const std::vector<Shape>& shapes) {
  Constants found;
  found.write.assign(graph.registers, nullptr);
  if (!graph.function->is_entry) return found;
  std::vector<uint32_t> writes(graph.registers, 0);
  std::vector<const Instruction*> write(graph.registers, nullptr);
  std::vector<Index> uses, defs;
  for (const Node& node : graph.nodes)
    for (uint32_t i = node.begin; i < node.end; ++i) {
      const Instruction& inst = graph.inst(node, i);
      uses_and_defs(graph, inst, uses, defs);
      for (Index d : defs) ++writes[d], write[d] = &inst;
    }
  std::vector<uint32_t> cost(graph.registers, 0);
  /// 0: not known (yet) to be constant.
  const auto cost_of = [&](Index r) -> uint32_t {
    const Instruction& inst = *write[r];
    if (inst.guard != ptx::no_index || inst.ops.empty() || inst.ops[0].kind != Operand::Kind::reg)
      return 0;
    if (reads_parameter(inst)) return 2;
    if (!computes(inst)) return 0;
    uint32_t sum = inst.op == Op::mov ? 0 : 1;
    for (size_t i = 1; i < inst.ops.size(); ++i) {
      const Operand& o = inst.ops[i];
      const uint32_t c =
          o.kind == Operand::Kind::reg ? cost[o.index] : cost_of_source(o, *graph.function);
      if (c == 0) return 0;
      sum += c;
    }
    return sum <= most_cost ? sum : 0;
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (Index r = 0; r < graph.registers; ++r) {
      // Live at the entry: somewhere it is read before it is written.
      if (writes[r] != 1 || found.write[r] || graph.live_in[0].has(r)) continue;
      const bool predicate = graph.carry() != r && write[r]->op != Op::ld &&
                             graph.function->registers[r].type == ptx::Type::pred;
      if (shapes[r].varying() && !predicate) continue;
      cost[r] = cost_of(r);
      if (cost[r] == 0) continue;
      found.write[r] = write[r];
      grew = true;
    }
  }
  return found;
}

}  // namespace limen::simt
