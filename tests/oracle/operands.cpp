// How the evaluator reads and writes operands. See machine.h.
#include <fmt/format.h>

#include <bit>

#include "compiler/ptx/parser.h"
#include "compiler/ptx/table.h"
#include "machine.h"

namespace limen::oracle {

__int128 extend(Type type, Wide bits) {
  const uint32_t width = bits_of(type);
  bits &= mask_of(width);
  if (ptx::is_signed(type) && width < 128 && bits >> (width - 1) & 1) bits |= ~mask_of(width);
  return static_cast<__int128>(bits);
}

Rounding rounding_of(const Instruction& i, Rounding otherwise) {
  if (i.has(Tok::rn) || i.has(Tok::rni)) return Rounding::nearest;
  if (i.has(Tok::rz) || i.has(Tok::rzi)) return Rounding::zero;
  if (i.has(Tok::rm) || i.has(Tok::rmi)) return Rounding::down;
  if (i.has(Tok::rp) || i.has(Tok::rpi)) return Rounding::up;
  if (i.has(Tok::rna)) return Rounding::away;
  return otherwise;
}

bool Machine::fail(const Thread& t, const Instruction& i, std::string_view why) {
  if (!failed())
    error_ = fmt::format("line {}: '{}' {} (block {} {} {}, thread {})", i.line,
                         ptx::to_text(module_, *t.frames.back().code, i), why, t.block->ctaid[0],
                         t.block->ctaid[1], t.block->ctaid[2], t.linear);
  return false;
}

Wide Machine::read_register(Thread& t, const Instruction& i, Index index, uint32_t component) {
  const Frame& f = t.frames.back();
  const uint32_t slot = f.layout->registers[index] + component;
  if (launch_.strict && !f.written[slot])
    fail(t, i, fmt::format("reads {}, which has no value", f.code->registers[index].name));
  return f.registers[slot];
}

uint32_t Machine::register_bits(const Thread& t, const Operand& o) const {
  return bits_of(t.frames.back().code->registers[o.index].type);
}

Wide Machine::read(Thread& t, const Instruction& i, const Operand& o, Type type) {
  switch (o.kind) {
    case Operand::Kind::reg: {
      const Wide v = read_register(t, i, o.index, o.component);
      if (type == Type::pred) return (v & 1) ^ Wide { o.negated };
      return v & mask_of(bits_of(type));
    }
    case Operand::Kind::imm: {
      const uint64_t bits = static_cast<uint64_t>(o.bits);
      if (type == Type::pred) return bits != 0;
      if (!o.imm_is_float)
        return static_cast<Wide>(extend(Type::s64, bits)) & mask_of(bits_of(type));
      const Format& have = o.imm_is_f64 ? f64 : f32;
      const Format& want = has_format(type) ? format_of(type) : bits_of(type) == 8 * 8 ? f64 : f32;
      if (have.bits() == want.bits()) return bits;
      return put_together(want, take_apart(have, bits), Rounding::nearest);
    }
    case Operand::Kind::sreg:
      return special(t, i, o) & mask_of(bits_of(type));
    case Operand::Kind::symbol:
      return symbol_address(t, i, o);
    default:
      fail(t, i, "has an operand that is not evaluated");
      return 0;
  }
}

void Machine::write(Thread& t, const Operand& o, Wide bits) {
  if (o.kind != Operand::Kind::reg) return;  // a sink
  Frame& f = t.frames.back();
  const uint32_t slot = f.layout->registers[o.index] + o.component;
  const Type type = f.code->registers[o.index].type;
  f.registers[slot] = type == Type::pred ? bits & 1 : bits & mask_of(bits_of(type));
  f.written[slot] = 1;
}

void Machine::write_extended(Thread& t, const Operand& o, Type type, Wide bits) {
  write(t, o, static_cast<Wide>(extend(type, bits)));
}

Space Machine::symbol_space(const Thread& t, const Operand& o) const {
  switch (o.symbol_kind) {
    case Operand::SymbolKind::variable:
      return module_.variables[o.index].space;
    case Operand::SymbolKind::local_variable:
      return t.frames.back().code->locals[o.index].space;
    case Operand::SymbolKind::param:
      return Space::param;
    default:
      return Space::none;
  }
}

/// In the variable's own space: shared and local addresses are offsets, the others the host's.
uint64_t Machine::symbol_address(Thread& t, const Instruction& i, const Operand& o) {
  const Frame& f = t.frames.back();
  const uint64_t offset = static_cast<uint64_t>(o.bits);
  switch (o.symbol_kind) {
    case Operand::SymbolKind::variable: {
      const ptx::Variable& v = module_.variables[o.index];
      if (v.linkage == ptx::Linkage::external && v.space != Space::shared)
        fail(t, i, fmt::format("names {}, which is external", v.name));
      return addresses_[o.index] + offset;
    }
    case Operand::SymbolKind::local_variable: {
      const Space space = f.code->locals[o.index].space;
      const uint64_t at = f.layout->locals[o.index];
      if (space == Space::shared) return at + offset;
      if (space == Space::local) return f.local_base + at + offset;
      return reinterpret_cast<uint64_t>(f.arguments.get()) + at + offset;
    }
    case Operand::SymbolKind::param:
      return reinterpret_cast<uint64_t>(f.params.get()) + f.layout->params[o.index] + offset;
    case Operand::SymbolKind::function:
      return function_address(o.index);
    default:
      fail(t, i, "names what has no address");
      return 0;
  }
}

uint64_t Machine::special(Thread& t, const Instruction& i, const Operand& o) {
  using ptx::SReg;
  const Block& b = *t.block;
  const uint32_t c = o.component;
  const uint32_t bit = 1u << t.lane;
  switch (o.sreg) {
    case SReg::tid:
      return c < 3 ? t.tid[c] : 0;
    case SReg::ntid:
      return c < 3 ? launch_.block[c] : 0;
    case SReg::ctaid:
    case SReg::clusterid:
      return c < 3 ? b.ctaid[c] : 0;
    case SReg::nctaid:
    case SReg::nclusterid:
      return c < 3 ? launch_.grid[c] : 0;
    case SReg::cluster_ctaid:
    case SReg::cluster_ctarank:
    case SReg::is_explicit_cluster:
      return 0;
    case SReg::cluster_nctaid:
      return c < 3;
    case SReg::cluster_nctarank:
      return 1;
    case SReg::laneid:
      return t.lane;
    case SReg::warpid:
      return t.warp;
    case SReg::nwarpid:
      return warps_;
    case SReg::smid:
    case SReg::gridid:
      return 0;
    case SReg::nsmid:
      return 1;
    case SReg::lanemask_eq:
      return bit;
    case SReg::lanemask_lt:
      return bit - 1;
    case SReg::lanemask_le:
      return bit | (bit - 1);
    case SReg::lanemask_gt:
      return ~(bit | (bit - 1));
    case SReg::lanemask_ge:
      return ~(bit - 1);
    case SReg::clock:
    case SReg::clock64:
    case SReg::globaltimer:
      return steps_;
    case SReg::globaltimer_lo:
      return steps_ & 0xffffffffu;
    case SReg::globaltimer_hi:
    case SReg::clock_hi:
      return steps_ >> 32;
    case SReg::dynamic_smem_size:
      return launch_.dynamic_shared_bytes;
    case SReg::total_smem_size:
      return shared_bytes_;
    default:
      fail(t, i, fmt::format("reads {}, which is not evaluated", ptx::name(o.sreg)));
      return 0;
  }
}

}  // namespace limen::oracle
