// Floating-point arithmetic of every format; packed forms element by element. Approximate functions
// are computed in double: callers compare those with a tolerance. Source: PTX ISA 9.0
// #floating-point-instructions, #half-precision-floating-point-instructions,
// #mixed-precision-floating-point-instructions; NaN results: H200.
#include <bit>
#include <cmath>

#include "machine.h"

namespace limen::oracle {
namespace {

constexpr uint64_t quiet_f64 = uint64_t{1} << 51;

bool is_arithmetic(Op op) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::fma:
    case Op::mad:
    case Op::div:
    case Op::abs:
    case Op::neg:
    case Op::min:
    case Op::max:
    case Op::rcp:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::sin:
    case Op::cos:
    case Op::lg2:
    case Op::ex2:
    case Op::tanh:
      return true;
    default:
      return false;
  }
}

Arithmetic arithmetic_of(Op op) {
  switch (op) {
    case Op::sub:
      return Arithmetic::sub;
    case Op::mul:
      return Arithmetic::mul;
    case Op::fma:
    case Op::mad:
      return Arithmetic::fma;
    case Op::div:
    case Op::rcp:
      return Arithmetic::div;
    case Op::sqrt:
      return Arithmetic::sqrt;
    default:
      return Arithmetic::add;
  }
}

uint64_t narrow(const Format& f, double v) {
  return put_together(f, take_apart(f64, std::bit_cast<uint64_t>(v)), Rounding::nearest);
}

}  // namespace

bool Machine::real(Thread& t, const Instruction& i) {
  if (!i.type_count || !has_format(i.type())) return false;
  if (is_arithmetic(i.op)) return real_arithmetic(t, i);
  return real_other(t, i);
}

bool Machine::real_arithmetic(Thread& t, const Instruction& i) {
  if (i.has(Tok::oob)) return false;
  const Type type = i.type();
  const Format& f = format_of(type);
  const size_t sources = i.ops.size() - 1;
  if (i.type_count > 1) {  // mixed precision: the last operand has the result's type
    const Type from = i.type(1);
    double v[3] = {};
    for (size_t n = 0; n < sources; ++n) {
      const Type of = n + 1 == sources ? type : from;
      v[n] = to_double(format_of(of), read64(t, i, i.ops[n + 1], of));
    }
    uint64_t d =
        compute_mixed(f, arithmetic_of(i.op), rounding_of(i, Rounding::nearest), v[0], v[1], v[2]);
    write(t, i.ops[0], i.has(Tok::sat) ? saturate(f, d) : d);
    return true;
  }
  const uint32_t width = static_cast<uint32_t>(f.bits());
  uint64_t bits[3] = {}, d = 0;
  for (size_t n = 0; n < sources; ++n) bits[n] = read64(t, i, i.ops[n + 1], type);
  const uint64_t mask = static_cast<uint64_t>(mask_of(width));
  for (uint32_t at = 0; at < bits_of(type); at += width)
    d |= (real_element(i, f, bits[0] >> at & mask, bits[1] >> at & mask, bits[2] >> at & mask) &
          mask)
         << at;
  write(t, i.ops[0], d);
  return true;
}

uint64_t Machine::real_element(const Instruction& i, const Format& f, uint64_t a, uint64_t b,
                               uint64_t c) {
  const bool wide = f.bits() == 64;
  const bool ftz = i.has(Tok::ftz);
  if (ftz) {
    a = flush(f, a);
    b = flush(f, b);
    c = flush(f, c);
  }
  const Rounding mode = rounding_of(i, Rounding::nearest);
  uint64_t d = 0;
  switch (i.op) {
    case Op::abs:
      d = is_nan(f, a) ? (wide ? a | quiet_f64 : f.nan()) : a & ~f.sign();
      break;
    case Op::neg:
      d = is_nan(f, a) ? (wide ? a | quiet_f64 : f.nan()) : a ^ f.sign();
      break;
    case Op::min:
    case Op::max:
      d = real_extreme(i, f, a, b);
      if (i.ops.size() == 4) d = real_extreme(i, f, d, c);
      break;
    case Op::rsqrt:
    case Op::sin:
    case Op::cos:
    case Op::lg2:
    case Op::ex2:
    case Op::tanh:
      d = real_approximate(i, f, a, b);
      break;
    case Op::rcp:
    case Op::sqrt:
    case Op::div:
      if (i.has(Tok::approx) || i.has(Tok::full))
        d = real_approximate(i, f, a, b);
      else if (i.op == Op::rcp)
        d = compute(f, Arithmetic::div, mode, f.one(), a, 0);
      else
        d = compute(f, arithmetic_of(i.op), mode, a, b, 0);
      break;
    default:
      d = compute(f, arithmetic_of(i.op), mode, a, b, c);
      break;
  }
  if (ftz) d = flush(f, d);
  if (i.has(Tok::sat)) d = saturate(f, d);
  if (i.has(Tok::relu)) d = relu(f, d);
  return d;
}

uint64_t Machine::real_extreme(const Instruction& i, const Format& f, uint64_t a,
                               uint64_t b) const {
  const uint64_t sign = i.has(Tok::xorsign) ? (a ^ b) & f.sign() : 0;
  if (i.has(Tok::abs)) {
    a &= ~f.sign();
    b &= ~f.sign();
  }
  const bool a_nan = is_nan(f, a), b_nan = is_nan(f, b);
  if ((a_nan && b_nan) || (i.has(Tok::NaN) && (a_nan || b_nan)))
    return f.bits() == 64 ? b | quiet_f64 : f.nan();
  uint64_t d;
  if (a_nan) {
    d = b;
  } else if (b_nan) {
    d = a;
  } else {
    int order = compare(f, a, b);
    // -0 is less than +0 here.
    if (order == 0)
      order = static_cast<int>((b & f.sign()) != 0) - static_cast<int>((a & f.sign()) != 0);
    d = (i.op == Op::min) == (order <= 0) ? a : b;
  }
  return d | sign;
}

uint64_t Machine::real_approximate(const Instruction& i, const Format& f, uint64_t a,
                                   uint64_t b) const {
  const double x = to_double(f, a), y = to_double(f, b);
  double d = 0;
  switch (i.op) {
    case Op::div:
      d = x / y;
      break;
    case Op::rcp:
      d = 1 / x;
      break;
    case Op::sqrt:
      d = std::sqrt(x);
      break;
    case Op::rsqrt:
      d = 1 / std::sqrt(x);
      break;
    case Op::sin:
      d = std::sin(x);
      break;
    case Op::cos:
      d = std::cos(x);
      break;
    case Op::lg2:
      d = std::log2(x);
      break;
    case Op::ex2:
      d = std::exp2(x);
      break;
    default:
      d = std::tanh(x);
      break;
  }
  return narrow(f, d);
}

bool Machine::real_other(Thread& t, const Instruction& i) {
  const Format& f = format_of(i.type());
  if (i.op == Op::copysign) {
    const uint64_t a = read64(t, i, i.ops[1], i.type()), b = read64(t, i, i.ops[2], i.type());
    write(t, i.ops[0], (a & f.sign()) | (b & ~f.sign()));
    return true;
  }
  if (i.op != Op::testp) return false;
  const uint64_t a = read64(t, i, i.ops[1], i.type());
  const Number n = take_apart(f, a);
  bool p;
  if (i.has(Tok::finite))
    p = n.kind == Number::Kind::finite || n.kind == Number::Kind::zero;
  else if (i.has(Tok::infinite))
    p = n.kind == Number::Kind::infinite;
  else if (i.has(Tok::number))
    p = n.kind != Number::Kind::nan;
  else if (i.has(Tok::notanumber))
    p = n.kind == Number::Kind::nan;
  else if (i.has(Tok::subnormal))
    p = is_subnormal(f, a);
  else
    p = n.kind == Number::Kind::zero || (n.kind == Number::Kind::finite && !is_subnormal(f, a));
  write(t, i.ops[0], p);
  return true;
}

}  // namespace limen::oracle
