// See verify_texture.h. Rules were measured on ptxas 13.0: vectors of coordinates are 1, 2 or 4
// long, a layer is an integer, s32 coordinates are integers, f32 ones also 32 bits without a type.
#include "compiler/ptx/verify_texture.h"

#include <fmt/format.h>

#include <vector>

#include "compiler/ptx/table.h"

namespace limen::ptx {
namespace {

using Kind = Operand::Kind;

class Checker {
 public:
  Checker(const Module& m, const Function& f, const Instruction& i) : m_(m), f_(f), i_(i) {}

  std::string run() const {
    switch (i_.op) {
      case Op::tex:
      case Op::tld4:
        return fetch();
      case Op::suld:
        return surface(1, 0);
      case Op::sust:
      case Op::sured:
        return surface(0, 1);
      default:
        return {};
    }
  }

 private:
  /// Could the operand be a value of `type`? `wide`: its register may be larger.
  bool fits(const Operand& o, Type type, bool wide, bool destination) const {
    if (o.kind == Kind::sink) return destination;
    if (o.kind == Kind::imm) return !destination && (is_float(type) ? true : !o.imm_is_float);
    if (o.kind != Kind::reg || o.negated) return false;
    const Type reg = f_.registers[o.index].type;
    const TypeKind have = kind_of(reg), want = kind_of(type);
    if (have == TypeKind::pred) return false;
    const bool size = wide ? size_of(reg) >= size_of(type) : size_of(reg) == size_of(type);
    if (!size) return false;
    if (have == TypeKind::bits || want == TypeKind::bits || reg == type) return true;
    const bool numbers = want == TypeKind::unsigned_ || want == TypeKind::signed_;
    return numbers && (have == TypeKind::unsigned_ || have == TypeKind::signed_);
  }

  std::string values(const Operand& o, size_t count, Type type, bool wide, bool destination,
                     const char* what) const {
    const bool lone = o.kind != Kind::vector;
    if (lone ? count != 1 : o.elems.size() != count)
      return fmt::format("the {} must be a vector of {}", what, count);
    for (size_t n = 0; n < count; ++n)
      if (!fits(lone ? o : o.elems[n], type, wide, destination))
        return fmt::format("the {} does not hold .{}", what, name(type));
    return {};
  }

  struct Shape {
    bool layer;
    size_t written;
  };
  Shape shape() const {
    if (i_.has(Tok::_1d)) return {false, 1};
    if (i_.has(Tok::_2d)) return {false, 2};
    if (i_.has(Tok::a1d)) return {true, 2};
    return {i_.has(Tok::a2d) || i_.has(Tok::acube), 4};
  }

  std::string place(const Operand& o, Type type, Type reference) const {
    if (o.kind != Kind::address) return "a texture or surface in brackets is expected";
    if (o.symbol_kind == Operand::SymbolKind::variable) {
      if (m_.variables[o.index].type != reference)
        return fmt::format("variable '{}' is no .{}", m_.variables[o.index].name, name(reference));
    } else if (o.symbol_kind == Operand::SymbolKind::none && o.index != no_index) {
      if (size_of(f_.registers[o.index].type) != 8) return "a handle has 64 bits";
    }
    if (o.elems.empty()) return "the coordinates are missing";
    // With a sampler between, the coordinates come last.
    const Operand& at = o.elems.back();
    const Shape want = shape();
    const bool lone = at.kind != Kind::vector;
    if (lone ? want.written != 1 : at.elems.size() != want.written)
      return fmt::format("the instruction takes a vector of {} coordinates", want.written);
    for (size_t n = 0; n < want.written; ++n) {
      const Operand& e = lone ? at : at.elems[n];
      if (e.kind == Kind::sink && n == 3) continue;
      if (!fits(e, n == 0 && want.layer ? Type::u32 : type, false, false))
        return fmt::format("coordinate {} does not hold .{}", n,
                           name(n == 0 && want.layer ? Type::u32 : type));
    }
    return {};
  }

  std::string fetch() const {
    if (i_.ops.size() < 2) return "a texture instruction takes at least two operands";
    const Operand& d = i_.ops[0].kind == Kind::pair ? i_.ops[0].elems[0] : i_.ops[0];
    const bool halves = i_.type(0) == Type::f16x2;
    if (std::string why = values(d, halves ? 2 : 4, i_.type(0), false, true, "destination");
        !why.empty())
      return why;
    if (std::string why = place(i_.ops[1], i_.type(1), Type::texref); !why.empty()) return why;
    size_t at = 2;
    if (i_.has(Tok::level)) {
      if (at >= i_.ops.size() || !fits(i_.ops[at], i_.type(1), false, false))
        return fmt::format("the level must hold .{}", name(i_.type(1)));
      ++at;
    }
    if (i_.has(Tok::grad)) {
      const bool one = i_.has(Tok::_1d) || i_.has(Tok::a1d);
      const bool two = i_.has(Tok::_2d) || i_.has(Tok::a2d);
      for (int n = 0; n < 2; ++n, ++at) {
        if (at >= i_.ops.size() || i_.ops[at].kind != Kind::vector)
          return "a gradient must be a vector";
        if (std::string why = values(i_.ops[at],
                                     one   ? 1
                                     : two ? 2
                                           : 4,
                                     Type::f32, false, false, "gradient");
            !why.empty())
          return why;
      }
    }
    return i_.ops.size() > at + 2 ? "there are too many operands" : std::string();
  }

  std::string surface(size_t address, size_t value) const {
    if (i_.ops.size() != 2) return "a surface instruction takes two operands";
    if (std::string why = place(i_.ops[address], Type::s32, Type::surfref); !why.empty())
      return why;
    const unsigned count = vector_of(i_);
    if (count * size_of(i_.type()) > 16) return "a vector of a surface has at most 128 bits";
    return values(i_.ops[value], count, i_.type(), size_of(i_.type()) == 1, i_.op == Op::suld,
                  "value");
  }

  const Module& m_;
  const Function& f_;
  const Instruction& i_;
};

}  // namespace

std::string check_texture(const Module& module, const Function& function, const Instruction& inst) {
  if (form(inst).state == State::later) return {};
  return Checker(module, function, inst).run();
}

}  // namespace limen::ptx
