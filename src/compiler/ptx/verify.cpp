// Checks a parsed body against the form table: number, kind and register types of operands, state
// spaces of named variables, PTX version and target. Rules were measured on ptxas 13.0; where the
// two differ we accept more, never a different meaning. Reads only; any thread.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ptx/parser.h"
#include "compiler/ptx/table.h"
#include "compiler/ptx/verify_tensor.h"
#include "compiler/ptx/verify_texture.h"

namespace limen::ptx {
namespace {

class Verifier {
 public:
  Verifier(const Module& m, const Function& f) : m_(m), f_(f) {}
  Result<void> run() {
    for (const Block& block : f_.blocks)
      for (const Instruction& i : block.body) {
        std::string why = i.op == Op::call ? check_call(i) : check(i);
        if (!why.empty())
          return Error{Code::invalid_ptx, fmt::format("line {}: {}", i.line, why), {}};
      }
    return {};
  }

 private:
  using Kind = OperandRule::Kind;

  std::string check(const Instruction& i) const;
  std::string check_constraints(const Instruction& i) const;
  std::string check_call(const Instruction& i) const;
  std::string check_availability(const Form& form) const;
  bool is_required(const Instruction& i, const OperandRule& rule) const;
  std::string check_operand(const Instruction& i, const OperandRule& rule, const Operand& o) const;
  std::string check_value(const Instruction& i, const OperandRule& rule, const Operand& o) const;
  std::string check_vector(const Instruction& i, const OperandRule& rule, const Operand& o) const;
  std::string check_fragment(const Instruction& i, const OperandRule& rule, const Operand& o) const;
  std::string check_pack(const Instruction& i, const OperandRule& rule, const Operand& o) const;
  std::string check_move(const Instruction& i, const OperandRule& rule, const Operand& o) const;
  std::string check_address(const Instruction& i, const Operand& o) const;
  std::string check_marks(const OperandRule& rule, const Operand& o) const;
  std::string check_video(const Instruction& i) const;
  std::string check_immediate(const Instruction& i, const OperandRule& rule, Type type,
                              const Operand& o) const;
  bool register_fits(Type type, const OperandRule& rule, Type reg) const;
  Type type_of(const Instruction& i, const OperandRule& rule) const {
    return rule.type_slot >= 0 ? i.types[static_cast<size_t>(rule.type_slot)] : rule.fixed;
  }
  Type reg_type(const Operand& o) const { return f_.registers[o.index].type; }
  bool is_minus(const Operand& o) const {
    return o.kind == Operand::Kind::reg && o.negated && reg_type(o) != Type::pred;
  }
  std::string_view reg_name(const Operand& o) const { return f_.registers[o.index].name; }
  Space space_of_symbol(const Operand& o) const;

  const Module& m_;
  const Function& f_;
};

std::string Verifier::check_availability(const Form& form) const {
  const uint32_t version = m_.version_major * 10 + m_.version_minor;
  if (version < form.since)
    return fmt::format("'{}' needs .version {}.{} or later, the module says {}.{}", form.text,
                       form.since / 10, form.since % 10, m_.version_major, m_.version_minor);
  if (m_.target_sm < form.target)
    return fmt::format("'{}' needs .target sm_{}{} or later, the module says sm_{}", form.text,
                       form.target, form.suffix ? std::string(1, form.suffix) : "", m_.target_sm);
  return {};
}

/// A register of type `reg` holds an operand of `type`: same size and a kind that does not reinterpret
/// numbers; bit types go with everything of their size. `wide`: the register may be larger.
bool Verifier::register_fits(Type type, const OperandRule& rule, Type reg) const {
  const TypeKind tk = kind_of(type), rk = kind_of(reg);
  if ((tk == TypeKind::pred) != (rk == TypeKind::pred)) return false;
  if (tk == TypeKind::pred) return true;
  size_t want = size_of(type);
  if (rule.is(OperandRule::twice)) want *= 2;
  const size_t have = size_of(reg);
  const bool same_size = have == want;
  const bool fits = same_size || (rule.is(OperandRule::wide) && have > want);
  switch (tk) {
    case TypeKind::bits: return fits;
    case TypeKind::unsigned_:
    case TypeKind::signed_:
      return fits && (rk == TypeKind::bits || rk == TypeKind::unsigned_ || rk == TypeKind::signed_);
    case TypeKind::float_:
      return reg == type || (rk == TypeKind::bits && fits);
    case TypeKind::packed:
      return reg == type || (rk == TypeKind::bits && fits);
    default: return same_size;
  }
}

std::string Verifier::check_immediate(const Instruction& i, const OperandRule& rule, Type type,
                                      const Operand& o) const {
  if (rule.is(OperandRule::dest)) return fmt::format("destination '{}' is a constant", rule.name);
  const TypeKind kind = kind_of(type);
  // Measured on ptxas 13.0: no instruction but mov takes constants of halves and packed types.
  const bool small = type == Type::f16 || kind == TypeKind::packed;
  if (small && i.op != Op::mov)
    return fmt::format("operand '{}' of type .{} must be a register", rule.name, name(type));
  if (kind == TypeKind::bits) {
    // A float constant keeps its bits; a double one also fits 32 bits, as a float.
    const size_t size = size_of(type);
    if (!o.imm_is_float || size == 4 || (size == 8 && o.imm_is_f64)) return {};
    return fmt::format("operand '{}' of type .{} is a floating-point constant", rule.name, name(type));
  }
  const bool wants_float = kind == TypeKind::float_ || kind == TypeKind::packed;
  if (wants_float != o.imm_is_float && type != Type::f16 && kind != TypeKind::packed)
    return fmt::format("operand '{}' of type .{} is {} constant", rule.name, name(type),
                       o.imm_is_float ? "a floating-point" : "an integer");
  return {};
}

std::string Verifier::check_vector(const Instruction& i, const OperandRule& rule,
                                   const Operand& o) const {
  const unsigned count = vector_of(i);
  if (count == 1) {
    if (o.kind != Operand::Kind::vector) return {};
    return fmt::format("operand '{}' is a vector and the instruction is not", rule.name);
  }
  if (o.kind != Operand::Kind::vector || o.elems.size() != count)
    return fmt::format("operand '{}' must be a vector of {}", rule.name, count);
  const size_t bytes = size_of(type_of(i, rule));
  if (bytes * count > 32 || (count == 8 && bytes != 4))
    return fmt::format("there is no vector of {} .{}", count, name(type_of(i, rule)));
  if (bytes * count > 16 && m_.target_sm < 100)
    return fmt::format("a vector of {} bytes needs .target sm_100 or later", bytes * count);
  OperandRule element = rule;
  element.flags = static_cast<uint16_t>((rule.flags & ~OperandRule::vector) | OperandRule::sink);
  for (const Operand& e : o.elems)
    if (std::string why = check_value(i, element, e); !why.empty()) return why;
  return {};
}

/// {a, b, ...} with a fixed number of registers: a matrix fragment. Only accumulators may hold
/// constants, only destinations `_`.
std::string Verifier::check_fragment(const Instruction& i, const OperandRule& rule,
                                     const Operand& o) const {
  if (o.kind != Operand::Kind::vector || o.elems.size() != rule.count)
    return fmt::format("operand '{}' must be a vector of {}", rule.name, rule.count);
  OperandRule element = rule;
  if (rule.is(OperandRule::dest)) element.flags |= OperandRule::sink;
  const Type type = type_of(i, rule);
  for (const Operand& e : o.elems) {
    if (e.kind == Operand::Kind::imm && kind_of(type) == TypeKind::packed)
      return fmt::format("operand '{}' must hold registers", rule.name);
    if (std::string why = check_value(i, element, e); !why.empty()) return why;
  }
  return {};
}

std::string Verifier::check_value(const Instruction& i, const OperandRule& rule,
                                  const Operand& o) const {
  const Type type = type_of(i, rule);
  switch (o.kind) {
    case Operand::Kind::reg:
      if (o.negated && !rule.is(OperandRule::negatable) && type != Type::pred &&
          !rule.is(OperandRule::minus))
        return fmt::format("operand '{}' cannot be negated", rule.name);
      if (o.negated && rule.is(OperandRule::dest)) return "a destination cannot be negated";
      if (register_fits(type, rule, reg_type(o))) return {};
      return fmt::format("register '{}' of type .{} cannot be operand '{}' of type .{}{}",
                         reg_name(o), name(reg_type(o)), rule.name, name(type),
                         rule.is(OperandRule::twice) ? " (twice its width)" : "");
    case Operand::Kind::imm:
      if (rule.is(OperandRule::only_register))
        return fmt::format("operand '{}' must be a register", rule.name);
      return check_immediate(i, rule, type, o);
    case Operand::Kind::sink:
      if (rule.is(OperandRule::sink)) return {};
      return fmt::format("operand '{}' cannot be discarded with '_'", rule.name);
    case Operand::Kind::sreg:
      if (i.op == Op::cvt && !rule.is(OperandRule::dest) && is_int(type) &&
          size_of(sreg_type(o.sreg)) >= size_of(type))
        return {};
      return fmt::format("special register '{}' is allowed in mov and cvt only", name(o.sreg));
    default: return fmt::format("operand '{}' must be a register or a constant", rule.name);
  }
}

/// mov.b64 d, {a, b}: the elements together have the width of the type.
std::string Verifier::check_pack(const Instruction& i, const OperandRule& rule,
                                 const Operand& o) const {
  if (o.kind != Operand::Kind::vector) return check_value(i, rule, o);
  const size_t total = size_of(type_of(i, rule));
  const size_t count = o.elems.size();
  if (count < 2 || count > 4 || total % count)
    return fmt::format("a vector of {} cannot make .{}", count, name(type_of(i, rule)));
  const size_t each = total / count;
  bool any_register = false;
  for (const Operand& e : o.elems) {
    if (e.kind == Operand::Kind::reg) {
      any_register = true;
      if (e.negated || reg_type(e) == Type::pred || size_of(reg_type(e)) != each)
        return fmt::format("register '{}' of type .{} must have {} bytes here", reg_name(e),
                           name(reg_type(e)), each);
    } else if (e.kind == Operand::Kind::sink ? !rule.is(OperandRule::dest)
                                             : e.kind != Operand::Kind::imm ||
                                                   rule.is(OperandRule::dest)) {
      return "a packed vector holds registers";
    }
  }
  return any_register || !rule.is(OperandRule::dest) ? std::string() : "every element is '_'";
}

std::string Verifier::check_move(const Instruction& i, const OperandRule& rule,
                                 const Operand& o) const {
  const Type type = i.types[0];
  OperandRule with_type = rule;
  with_type.fixed = type;
  with_type.type_slot = -1;
  switch (o.kind) {
    case Operand::Kind::vector:
      if (kind_of(type) != TypeKind::bits)
        return fmt::format("mov.{} does not pack vectors", name(type));
      return check_pack(i, with_type, o);
    case Operand::Kind::sreg: {
      const Type have = sreg_type(o.sreg);
      // %tid and others were 16 bits wide in PTX 1.x, %gridid 32; such moves are still taken.
      const bool short_of_word = (size_of(type) == 2 && size_of(have) == 4) ||
                                 (size_of(type) == 4 && o.sreg == SReg::gridid);
      if (type == Type::pred ? have == Type::pred
                             : (is_int(type) || kind_of(type) == TypeKind::bits) &&
                                   (size_of(have) == size_of(type) || short_of_word))
        return {};
      return fmt::format("special register '{}' of type .{} cannot move as .{}", name(o.sreg),
                         name(have), name(type));
    }
    case Operand::Kind::symbol:
      if (is_int(type) && size_of(type) >= 4) return {};
      return fmt::format("an address cannot move as .{}", name(type));
    default: return check_value(i, with_type, o);
  }
}

Space Verifier::space_of_symbol(const Operand& o) const {
  switch (o.symbol_kind) {
    case Operand::SymbolKind::variable: return m_.variables[o.index].space;
    case Operand::SymbolKind::local_variable: return f_.locals[o.index].space;
    case Operand::SymbolKind::param: return Space::param;
    default: return Space::none;
  }
}

std::string Verifier::check_address(const Instruction& i, const Operand& o) const {
  if (o.kind != Operand::Kind::address) return "operand must be an address in brackets";
  if (!o.elems.empty()) return "an address here is a base and an offset";
  if (o.symbol_kind == Operand::SymbolKind::none) {
    if (o.index == no_index) return {};
    const Type t = reg_type(o);
    if ((size_of(t) == 8 || size_of(t) == 4) && is_int(t)) return {};
    return fmt::format("register '{}' of type .{} cannot be an address", reg_name(o), name(t));
  }
  const Space have = space_of_symbol(o), want = space_of(i);
  if (i.op == Op::st && o.symbol_kind == Operand::SymbolKind::param && f_.is_entry)
    return "parameters of an entry cannot be stored to";
  const bool asynchronous = i.op == Op::cp || i.op == Op::tensormap ||
                            form(i).cls == Class::texture || form(i).rest;
  if (want == Space::none || have == want || asynchronous) return {};
  return fmt::format("variable is not in the state space that the instruction names");
}

bool has_selector(const Operand& o) {
  return o.selector || std::any_of(o.elems.begin(), o.elems.end(), has_selector);
}

/// A minus or a selector where the rule has none, or a selector of the wrong unit, length or order. A
/// mask names its parts from the highest to the lowest, each once.
std::string Verifier::check_marks(const OperandRule& rule, const Operand& o) const {
  if (is_minus(o) && !rule.is(OperandRule::minus))
    return fmt::format("operand '{}' cannot be negated", rule.name);
  if (!has_selector(o)) return {};
  const Selector& s = o.selector;
  const bool halves = rule.is(OperandRule::halves), bytes = rule.is(OperandRule::bytes);
  const bool dest = rule.is(OperandRule::dest);
  bool good = false;
  if (o.kind == Operand::Kind::reg && rule.is(OperandRule::part)) {
    good = s.count == 1 && s.part(0) < (s.halves ? 2 : 4);
  } else if (o.kind == Operand::Kind::reg && (halves || bytes)) {
    const unsigned parts = halves ? 2 : 4;
    good = s.halves == halves && (dest ? s.part(s.count - 1u) < parts : s.count == parts);
    for (size_t n = 1; dest && n < s.count; ++n) good &= s.part(n) > s.part(n - 1);
  } else {
    return fmt::format("operand '{}' takes no selector", rule.name);
  }
  return good ? std::string() : fmt::format("incorrect selector of operand '{}'", rule.name);
}

/// What ties operands of a video instruction together.
std::string Verifier::check_video(const Instruction& i) const {
  const auto rules = operands_of(form(i));
  if (rules.empty() || !rules[0].is(OperandRule::dest)) return {};
  if (rules[0].is(OperandRule::part) && i.ops[0].selector && i.ops.size() < rules.size())
    return fmt::format("a selector on '{}' needs operand '{}' to merge with", rules[0].name,
                       rules.back().name);
  if (i.op != Op::vmad) return {};
  const bool product = i.ops[1].negated != i.ops[2].negated;
  if (product && i.has(Tok::po)) return ".po takes no negated product";
  if (product && i.ops[3].negated) return "either the product or 'c' can be negated";
  return {};
}

std::string Verifier::check_operand(const Instruction& i, const OperandRule& rule,
                                    const Operand& o) const {
  if (std::string why = check_marks(rule, o); !why.empty()) return why;
  if (o.kind == Operand::Kind::pair) {
    if (!rule.is(OperandRule::may_pair) && !rule.is(OperandRule::must_pair))
      return fmt::format("operand '{}' cannot be a pair", rule.name);
    OperandRule first = rule, second = rule;
    first.flags |= OperandRule::sink;
    second.flags |= OperandRule::sink;
    second.type_slot = -1;
    second.fixed = Type::pred;
    std::string why = check_value(i, first, o.elems[0]);
    return why.empty() ? check_value(i, second, o.elems[1]) : why;
  }
  if (rule.is(OperandRule::must_pair))
    return fmt::format("operand '{}' must be a pair d|p", rule.name);
  switch (rule.kind) {
    case Kind::value:
      if (rule.count) return check_fragment(i, rule, o);
      if (rule.is(OperandRule::vector)) {
        if (std::string why = check_vector(i, rule, o); !why.empty()) return why;
        if (o.kind == Operand::Kind::vector) return {};
      }
      return check_value(i, rule, o);
    case Kind::address: return check_address(i, o);
    case Kind::imm:
      if (rule.count && o.kind == Operand::Kind::imm && (o.bits < 0 || o.bits >= rule.count))
        return fmt::format("operand '{}' must be below {}, found {}", rule.name, rule.count, o.bits);
      if (o.kind == Operand::Kind::imm && !o.imm_is_float) return {};
      return fmt::format("operand '{}' must be an integer constant", rule.name);
    case Kind::pack: return check_pack(i, rule, o);
    case Kind::move: return check_move(i, rule, o);
    case Kind::address_value:
      if (o.kind == Operand::Kind::symbol && o.symbol_kind != Operand::SymbolKind::function) return {};
      return check_value(i, rule, o);
    case Kind::pointer:
      if (o.kind == Operand::Kind::reg && is_int(reg_type(o)) && size_of(reg_type(o)) >= 4) return {};
      return fmt::format("operand '{}' must be a 32 or 64 bit register", rule.name);
    case Kind::label:
      return o.kind == Operand::Kind::label ? "" : "operand must be a label";
    case Kind::callee:
    case Kind::targets:
    case Kind::any: return {};
  }
  return {};
}

std::string Verifier::check(const Instruction& i) const {
  const Form& f = form(i);
  if (std::string why = check_availability(f); !why.empty()) return why;
  if (f.rest) {
    for (const Operand& o : i.ops)
      if (has_selector(o) || is_minus(o))
        return fmt::format("'{}' takes no selector and no negated register", name(i.op));
    const std::string why = f.cls == Class::texture ? check_texture(m_, f_, i)
                            : i.op == Op::cp        ? check_tensor(f_, i)
                                                    : std::string();
    return why.empty() ? why : fmt::format("'{}': {}", name(i.op), why);
  }
  const auto rules = operands_of(f);
  size_t required = 0;
  for (const OperandRule& rule : rules) required += is_required(i, rule);
  if (i.ops.size() < required)
    return fmt::format("'{}' takes {} operands, found {}", f.text, required, i.ops.size());
  size_t at = 0, spare = i.ops.size() - required;
  for (const OperandRule& rule : rules) {
    if (!is_required(i, rule)) {
      if (rule.kind == Kind::targets || rule.present_slot >= 0 || !spare) continue;
      --spare;
    }
    if (std::string why = check_operand(i, rule, i.ops[at]); !why.empty())
      return fmt::format("'{}': {}", name(i.op), why);
    ++at;
  }
  if (at != i.ops.size())
    return fmt::format("'{}' takes at most {} operands, found {}", f.text, at, i.ops.size());
  return check_constraints(i);
}

/// What ties operands to modifiers beyond what a row can say.
std::string Verifier::check_constraints(const Instruction& i) const {
  if (std::string why = check_video(i); !why.empty())
    return fmt::format("'{}': {}", name(i.op), why);
  if ((i.op == Op::bar || i.op == Op::barrier) && !i.has(Tok::warp) && !i.has(Tok::cluster)) {
    const size_t at = i.has(Tok::red) ? 1 : 0, last = i.ops.size() - (i.has(Tok::red) ? 1 : 0);
    if (i.ops[at].kind == Operand::Kind::imm && static_cast<uint64_t>(i.ops[at].bits) > 15)
      return fmt::format("there are barriers 0 to 15, found {}", i.ops[at].bits);
    if (at + 1 < last && i.ops[at + 1].kind == Operand::Kind::imm) {
      const int64_t threads = i.ops[at + 1].bits;
      if (threads % 32 != 0 || (threads == 0 && i.has(Tok::arrive)))
        return fmt::format("the threads of a barrier are counted in warps of 32, found {}", threads);
    }
  }
  if (i.op == Op::st && i.has(Tok::bulk) && i.ops[2].bits != 0) return "'st.bulk' stores zeros only";
  if (i.op == Op::mbarrier && i.has(Tok::shared__cluster) &&
      (i.has(Tok::arrive) || i.has(Tok::arrive_drop)) && i.ops[0].kind != Operand::Kind::sink)
    return "an arrival with '.shared::cluster' has no result but '_'";
  if (i.op == Op::tensormap && !i.has(Tok::replace) && i.ops[2].bits != 128)
    return "the size of a tensor map is 128";
  if (i.op == Op::tensormap && i.has(Tok::replace)) return check_replaced_field(i);
  if (i.op == Op::alloca && i.ops.size() > 2 && (i.ops[2].bits & (i.ops[2].bits - 1)) != 0)
    return "the alignment of 'alloca' must be a power of two";
  return {};
}

/// Optional operands may be left out, unless a modifier that is there asks for them.
bool Verifier::is_required(const Instruction& i, const OperandRule& rule) const {
  if (rule.kind == Kind::targets) return false;
  if (rule.present_slot < 0) return !rule.is(OperandRule::optional);
  return has_any(i.mods, slots_of(form(i))[static_cast<size_t>(rule.present_slot)]);
}

/// Counts and sizes of arguments against the callee's parameters.
std::string Verifier::check_call(const Instruction& i) const {
  const std::vector<Param>*returns = nullptr, *params = nullptr;
  std::string_view callee = "the called function";
  const Operand& target = i.ops[0];
  if (target.kind == Operand::Kind::symbol) {
    const Function& f = m_.functions[target.index];
    if (f.is_entry) return fmt::format("entry '{}' cannot be called", f.name);
    returns = &f.returns;
    params = &f.params;
    callee = f.name;
  } else {
    if (!is_int(reg_type(target)) || size_of(reg_type(target)) < 4)
      return fmt::format("register '{}' cannot hold a function", reg_name(target));
    if (i.prototype != no_index) {
      returns = &f_.prototypes[i.prototype].returns;
      params = &f_.prototypes[i.prototype].params;
    } else if (i.target_list != no_index) {
      const Function& f = m_.functions[f_.call_targets[i.target_list][0]];
      returns = &f.returns;
      params = &f.params;
    } else {
      return "an indirect call needs a prototype or a list of targets";
    }
  }
  if (i.call_returns.size() != returns->size() || i.call_args.size() != params->size())
    return fmt::format("{} takes {} arguments and returns {}, the call gives {} and {}", callee,
                       params->size(), returns->size(), i.call_args.size(),
                       i.call_returns.size());
  auto fits = [&](const Operand& o, const Param& p) {
    if (has_selector(o)) return false;
    if (o.kind == Operand::Kind::symbol) {
      if (space_of_symbol(o) != Space::param) return false;
      return o.symbol_kind != Operand::SymbolKind::local_variable ||
             f_.locals[o.index].bytes == p.bytes || !p.bytes;
    }
    if (o.kind == Operand::Kind::reg)
      return kind_of(reg_type(o)) == TypeKind::pred ? p.type == Type::pred
                                                    : size_of(reg_type(o)) >= p.bytes;
    return o.kind == Operand::Kind::imm || o.kind == Operand::Kind::sink;
  };
  for (size_t n = 0; n < params->size(); ++n)
    if (!fits(i.call_args[n], (*params)[n]))
      return fmt::format("argument {} of the call to {} does not fit", n + 1, callee);
  for (size_t n = 0; n < returns->size(); ++n)
    if (!fits(i.call_returns[n], (*returns)[n]) || i.call_returns[n].kind == Operand::Kind::imm)
      return fmt::format("return value {} of the call to {} does not fit", n + 1, callee);
  return {};
}

}  // namespace

Result<void> verify_body(const Module& module, Index index) {
  const Function& f = module.functions[index];
  if (!f.body_parsed) return {};
  return Verifier(module, f).run();
}

}  // namespace limen::ptx
