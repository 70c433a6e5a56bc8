// See verify_tensor.h. Rules were measured on ptxas 13.0: coordinates and im2col information always
// stand in braces, and a tensor map is no variable of the parameter space.
#include "compiler/ptx/verify_tensor.h"

#include <fmt/format.h>

#include "compiler/ptx/table.h"

namespace limen::ptx {
namespace {

using Kind = Operand::Kind;

class Checker {
 public:
  Checker(const Function& f, const Instruction& i) : f_(f), i_(i) {}

  std::string run() const {
    size_t at = 0;
    const bool prefetches = i_.has(Tok::prefetch), loads = !i_.has(Tok::bulk_group) && !prefetches;
    std::string why;
    auto next = [&](const char* what, auto check) {
      if (!why.empty()) return;
      if (at == i_.ops.size())
        why = fmt::format("the {} is missing", what);
      else if (!check(i_.ops[at++]))
        why = fmt::format("the {} does not fit", what);
    };
    auto place = [&](const Operand& o) { return is_address(o) && o.elems.empty(); };
    if (loads) next("destination", place);
    next("tensor map with its coordinates", [&](const Operand& o) {
      return is_address(o) && o.symbol_kind != Operand::SymbolKind::param && o.elems.size() == 1 &&
             is_vector(o.elems[0], coordinates(), 4);
    });
    if (!prefetches) next(loads ? "mbarrier" : "source", place);
    if (const size_t count = information())
      next("im2col information", [&](const Operand& o) { return is_vector(o, count, 2); });
    if (i_.has(Tok::multicast__cluster))
      next("mask of blocks", [&](const Operand& o) { return is_value(o, 2); });
    if (i_.has(Tok::L2__cache_hint))
      next("cache policy", [&](const Operand& o) { return is_value(o, 8); });
    if (why.empty() && at != i_.ops.size()) why = "there are too many operands";
    return why;
  }

 private:
  size_t rank() const {
    return i_.has(Tok::_1d)   ? 1
           : i_.has(Tok::_2d) ? 2
           : i_.has(Tok::_3d) ? 3
           : i_.has(Tok::_4d) ? 4
                              : 5;
  }
  size_t coordinates() const { return i_.has(Tok::tile__gather4) ? 5 : rank(); }
  size_t information() const {
    return i_.has(Tok::im2col__w) ? 2 : i_.has(Tok::im2col) ? rank() - 2 : 0;
  }

  bool is_address(const Operand& o) const {
    if (o.kind != Kind::address) return false;
    if (o.symbol_kind != Operand::SymbolKind::none || o.index == no_index) return true;
    const Type t = f_.registers[o.index].type;
    return is_int(t) && size_of(t) >= 4 && size_of(t) <= 8;
  }

  bool is_value(const Operand& o, size_t bytes) const {
    if (o.kind == Kind::imm) return !o.imm_is_float;
    if (o.kind != Kind::reg || o.negated) return false;
    const Type t = f_.registers[o.index].type;
    return is_int(t) && size_of(t) == bytes;
  }

  bool is_vector(const Operand& o, size_t count, size_t bytes) const {
    if (o.kind != Kind::vector || o.elems.size() != count) return false;
    for (const Operand& e : o.elems)
      if (!is_value(e, bytes)) return false;
    return true;
  }

  const Function& f_;
  const Instruction& i_;
};

}  // namespace

std::string check_tensor(const Function& function, const Instruction& inst) {
  if (form(inst).state == State::later) return {};
  return Checker(function, inst).run();
}

std::string check_replaced_field(const Instruction& inst) {
  constexpr std::pair<Tok, int64_t> last_codes[] = {{Tok::elemtype, 15},
                                                    {Tok::interleave_layout, 2},
                                                    {Tok::swizzle_mode, 3},
                                                    {Tok::swizzle_atomicity, 3},
                                                    {Tok::fill_mode, 1}};
  const auto outside = [](const Operand& o, int64_t last) {
    return o.bits < 0 || o.bits > last
               ? fmt::format("'tensormap.replace': {} is not in the range 0 to {}", o.bits, last)
               : std::string();
  };
  constexpr int64_t last_dimension = 4;  // for strides too, of which there are four
  if (inst.ops.size() == 3) return outside(inst.ops[1], last_dimension);
  for (const auto& [field, last] : last_codes)
    if (inst.has(field)) return outside(inst.ops[1], last);
  return {};
}

}  // namespace limen::ptx
