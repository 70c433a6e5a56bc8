// Canonical text of an instruction, for messages and tests: modifiers in the order of the form.
// Reads only; any thread.
#include <fmt/format.h>

#include <bit>

#include "compiler/ptx/parser.h"
#include "compiler/ptx/table.h"

namespace limen::ptx {
namespace {

class Printer {
 public:
  Printer(const Module& m, const Function& f) : m_(m), f_(f) {}

  std::string instruction(const Instruction& i) const {
    std::string out;
    if (i.guard != no_index)
      out += fmt::format("@{}{} ", i.guard_negated ? "!" : "", f_.registers[i.guard].name);
    out += opcode(i);
    const char* separator = " ";
    if (i.op == Op::call) {
      if (!i.call_returns.empty()) {
        out += " " + list(i.call_returns) + ",";
      }
      out += " " + operand(i.ops[0]);
      if (!i.call_args.empty() || !i.call_returns.empty()) out += ", " + list(i.call_args);
      return out + ";";
    }
    for (const Operand& o : i.ops) {
      out += separator + operand(o);
      separator = ", ";
    }
    return out + ";";
  }

 private:
  static constexpr std::string_view components = "xyzw";

  std::string opcode(const Instruction& i) const {
    std::string out(name(i.op));
    TokSet left = i.mods;
    size_t type = 0;
    const auto take = [&](Tok t) {
      out += '.';
      out += name(t);
      left.bits[size_t(t) / 64] &= ~(uint64_t{1} << (size_t(t) % 64));
    };
    for (const SlotRule& slot : slots_of(form(i))) {
      if (slot_is_type(slot)) {
        if (type < i.type_count) out += fmt::format(".{}", name(i.types[type++]));
        continue;
      }
      for (Tok t : tokens_of(slot))
        if (left.has(t)) {
          take(t);
          if (!slot.many) break;
        }
    }
    for (size_t t = 0; t < static_cast<size_t>(Tok::count_); ++t)
      if (left.has(static_cast<Tok>(t))) take(static_cast<Tok>(t));
    for (; type < i.type_count; ++type) out += fmt::format(".{}", name(i.types[type]));
    return out;
  }

  std::string list(const std::vector<Operand>& operands) const {
    std::string out = "(";
    for (size_t n = 0; n < operands.size(); ++n) out += (n ? ", " : "") + operand(operands[n]);
    return out + ")";
  }

  std::string symbol(const Operand& o) const {
    switch (o.symbol_kind) {
      case Operand::SymbolKind::variable: return m_.variables[o.index].name;
      case Operand::SymbolKind::local_variable: return f_.locals[o.index].name;
      case Operand::SymbolKind::param:
        return o.index < f_.params.size() ? f_.params[o.index].name
                                          : f_.returns[o.index - f_.params.size()].name;
      case Operand::SymbolKind::function: return m_.functions[o.index].name;
      case Operand::SymbolKind::label: return f_.labels[o.index];
      case Operand::SymbolKind::none: break;
    }
    return {};
  }

  std::string plus(int64_t offset) const { return offset ? fmt::format("+{}", offset) : ""; }

  std::string reg(const Operand& o) const {
    const Register& r = f_.registers[o.index];
    if (r.vector > 1) return fmt::format("{}.{}", r.name, components[o.component]);
    return o.selector ? fmt::format("{}.{}{:0{}x}", r.name, o.selector.halves ? 'h' : 'b',
                                    o.selector.digits, o.selector.count)
                      : r.name;
  }

  std::string address(const Operand& o) const {
    std::string out = "[";
    if (o.symbol_kind != Operand::SymbolKind::none) out += symbol(o) + plus(o.bits);
    else if (o.index != no_index) out += reg(o) + plus(o.bits);
    else out += std::to_string(o.bits);
    for (const Operand& e : o.elems) out += ", " + operand(e);
    return out + "]";
  }

  std::string operand(const Operand& o) const {
    switch (o.kind) {
      case Operand::Kind::none: return {};
      case Operand::Kind::reg:
        if (!o.negated) return reg(o);
        return (f_.registers[o.index].type == Type::pred ? "!" : "-") + reg(o);
      case Operand::Kind::sreg:
        return sreg_components(o.sreg) > 1
                   ? fmt::format("{}.{}", name(o.sreg), components[o.component])
                   : std::string(name(o.sreg));
      case Operand::Kind::imm:
        if (!o.imm_is_float) return std::to_string(o.bits);
        return o.imm_is_f64 ? fmt::format("0d{:016X}", static_cast<uint64_t>(o.bits))
                            : fmt::format("0f{:08X}", static_cast<uint64_t>(o.bits));
      case Operand::Kind::symbol: return symbol(o) + plus(o.bits);
      case Operand::Kind::address: return address(o);
      case Operand::Kind::vector: {
        std::string out = "{";
        for (size_t n = 0; n < o.elems.size(); ++n) out += (n ? ", " : "") + operand(o.elems[n]);
        return out + "}";
      }
      case Operand::Kind::label: return f_.labels[o.index];
      case Operand::Kind::sink: return "_";
      case Operand::Kind::pair: return operand(o.elems[0]) + "|" + operand(o.elems[1]);
    }
    return {};
  }

  const Module& m_;
  const Function& f_;
};

}  // namespace

std::string to_text(const Module& module, const Function& function,
                    const Instruction& instruction) {
  return Printer(module, function).instruction(instruction);
}

}  // namespace limen::ptx
