// See number.h. Compiled with -frounding-math: the modes set here hold for the operations between.
#include "number.h"

#include <bit>
#include <cfenv>
#include <cmath>

namespace limen::oracle {
namespace {

class Mode {
 public:
  explicit Mode(int mode) : old_(std::fegetround()) { std::fesetround(mode); }
  ~Mode() { std::fesetround(old_); }
  Mode(const Mode&) = delete;
  Mode& operator=(const Mode&) = delete;

 private:
  int old_;
};

int machine_mode(Rounding mode) {
  switch (mode) {
    case Rounding::zero:
      return FE_TOWARDZERO;
    case Rounding::down:
      return FE_DOWNWARD;
    case Rounding::up:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

/// Not inlined and through volatiles, so that nothing moves across a change of mode.
[[gnu::noinline]] double operate(Arithmetic op, double a, double b, double c) {
  volatile double x = a, y = b, z = c, result = 0;
  switch (op) {
    case Arithmetic::add:
      result = x + y;
      break;
    case Arithmetic::sub:
      result = x - y;
      break;
    case Arithmetic::mul:
      result = x * y;
      break;
    case Arithmetic::fma:
      result = std::fma(x, y, z);
      break;
    case Arithmetic::div:
      result = x / y;
      break;
    case Arithmetic::sqrt:
      result = std::sqrt(x);
      break;
  }
  return result;
}

/// Rounded towards zero, with the last bit set when the result is not exact.
double operate_odd(Arithmetic op, double a, double b, double c) {
  Mode mode(FE_TOWARDZERO);
  std::feclearexcept(FE_INEXACT);
  const double result = operate(op, a, b, c);
  if (!std::fetestexcept(FE_INEXACT)) return result;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(result) | 1);
}

int top_bit(Wide v) {
  const uint64_t high = static_cast<uint64_t>(v >> 64);
  return high ? 127 - std::countl_zero(high) : 63 - std::countl_zero(static_cast<uint64_t>(v));
}

/// sig / 2^shift rounded to an integer.
Wide shift_and_round(const Number& n, int shift, Rounding mode) {
  Wide kept = 0;
  bool half = false, rest = n.more;
  if (shift <= 0) {
    kept = n.sig << -shift;
  } else if (shift > 127) {
    rest = true;
  } else {
    kept = n.sig >> shift;
    half = n.sig >> (shift - 1) & 1;
    rest = rest || (n.sig & ((Wide{1} << (shift - 1)) - 1)) != 0;
  }
  bool up = false;
  switch (mode) {
    case Rounding::nearest:
      up = half && (rest || (kept & 1));
      break;
    case Rounding::away:
      up = half;
      break;
    case Rounding::zero:
      break;
    case Rounding::down:
      up = n.negative && (half || rest);
      break;
    case Rounding::up:
      up = !n.negative && (half || rest);
      break;
  }
  return kept + up;
}

uint64_t overflow(const Format& f, bool negative, Rounding mode) {
  const bool to_infinity = mode == Rounding::nearest || mode == Rounding::away ||
                           (mode == Rounding::down && negative) ||
                           (mode == Rounding::up && !negative);
  return (to_infinity && f.has_infinity ? f.infinity() : f.largest()) | (negative ? f.sign() : 0);
}

}  // namespace

uint64_t Format::largest() const { return has_infinity ? infinity() - 1 : sign() - 2; }

uint64_t Format::nan() const { return bits() == 64 ? 0x7ff8000000000000u : sign() - 1; }

bool has_format(ptx::Type type) {
  switch (type) {
    case ptx::Type::f16:
    case ptx::Type::f32:
    case ptx::Type::f64:
    case ptx::Type::bf16:
    case ptx::Type::f16x2:
    case ptx::Type::bf16x2:
    case ptx::Type::f32x2:
    case ptx::Type::e4m3x2:
    case ptx::Type::e5m2x2:
      return true;
    default:
      return false;
  }
}

const Format& format_of(ptx::Type type) {
  switch (type) {
    case ptx::Type::f16:
    case ptx::Type::f16x2:
      return f16;
    case ptx::Type::bf16:
    case ptx::Type::bf16x2:
      return bf16;
    case ptx::Type::f64:
      return f64;
    case ptx::Type::e4m3x2:
      return e4m3;
    case ptx::Type::e5m2x2:
      return e5m2;
    default:
      return f32;
  }
}

Number take_apart(const Format& f, uint64_t bits) {
  Number n;
  n.negative = bits & f.sign();
  const uint64_t fraction = bits & ((uint64_t{1} << f.fraction_bits) - 1);
  const int exponent = static_cast<int>((bits & (f.sign() - 1)) >> f.fraction_bits);
  const int top = (1 << f.exponent_bits) - 1;
  if (exponent == top && (f.has_infinity || fraction == (uint64_t{1} << f.fraction_bits) - 1)) {
    n.kind = f.has_infinity && !fraction ? Number::Kind::infinite : Number::Kind::nan;
    return n;
  }
  if (!exponent && !fraction) return n;
  n.kind = Number::Kind::finite;
  n.sig = fraction | (exponent ? uint64_t{1} << f.fraction_bits : 0);
  n.exponent = (exponent ? exponent : 1) - f.bias() - f.fraction_bits;
  return n;
}

uint64_t put_together(const Format& f, const Number& n, Rounding mode) {
  const uint64_t sign = n.negative ? f.sign() : 0;
  switch (n.kind) {
    case Number::Kind::nan:
      return f.nan();
    case Number::Kind::infinite:
      return f.has_infinity ? sign | f.infinity() : sign | f.largest();
    case Number::Kind::zero:
      return sign;
    case Number::Kind::finite:
      break;
  }
  const int smallest = 1 - f.bias();
  const int exponent = top_bit(n.sig) + n.exponent;
  int unit = (exponent < smallest ? smallest : exponent) - f.fraction_bits;
  Wide kept = shift_and_round(n, unit - n.exponent, mode);
  const Wide hidden = Wide{1} << f.fraction_bits;
  if (kept == hidden * 2) {
    kept = hidden;
    ++unit;
  }
  if (kept < hidden) return sign | static_cast<uint64_t>(kept);
  const int biased = unit + f.fraction_bits + f.bias();
  if (biased >= (1 << f.exponent_bits)) return overflow(f, n.negative, mode);
  const uint64_t bits =
      (static_cast<uint64_t>(biased) << f.fraction_bits) | static_cast<uint64_t>(kept - hidden);
  if (bits > f.largest()) return overflow(f, n.negative, mode);
  return sign | bits;
}

Number from_integer(bool negative, uint64_t magnitude) {
  Number n;
  if (!magnitude) return n;
  n.kind = Number::Kind::finite;
  n.negative = negative;
  n.sig = magnitude;
  return n;
}

Integer round_to_integer(const Number& n, Rounding mode) {
  Integer out;
  out.negative = n.negative;
  if (n.kind == Number::Kind::infinite) out.huge = true;
  if (n.kind != Number::Kind::finite) return out;
  if (n.exponent > 0 && top_bit(n.sig) + n.exponent >= 64) {
    out.huge = true;
    return out;
  }
  const Wide rounded = shift_and_round(n, -n.exponent, mode);
  out.huge = rounded >> 64 != 0;
  out.magnitude = static_cast<uint64_t>(rounded);
  return out;
}

bool is_nan(const Format& f, uint64_t bits) {
  return take_apart(f, bits).kind == Number::Kind::nan;
}

bool is_zero(const Format& f, uint64_t bits) { return !(bits & (f.sign() - 1)); }

bool is_subnormal(const Format& f, uint64_t bits) {
  return !is_zero(f, bits) && (bits & (f.sign() - 1)) < (uint64_t{1} << f.fraction_bits);
}

double to_double(const Format& f, uint64_t bits) {
  return std::bit_cast<double>(put_together(f64, take_apart(f, bits), Rounding::nearest));
}

uint64_t flush(const Format& f, uint64_t bits) {
  return is_subnormal(f, bits) ? bits & f.sign() : bits;
}

uint64_t compute_mixed(const Format& to, Arithmetic op, Rounding mode, double a, double b,
                       double c) {
  double odd = operate_odd(op, a, b, c);
  // An exact zero has the sign that the mode asks for.
  if (odd == 0) {
    Mode real(machine_mode(mode));
    odd = operate(op, a, b, c);
  }
  return put_together(to, take_apart(f64, std::bit_cast<uint64_t>(odd)), mode);
}

uint64_t compute(const Format& f, Arithmetic op, Rounding mode, uint64_t a, uint64_t b,
                 uint64_t c) {
  const int operands = op == Arithmetic::fma ? 3 : op == Arithmetic::sqrt ? 1 : 2;
  // Of several NaNs a division passes on the first, everything else the second, then the third.
  const uint64_t all[] = {a, b, c};
  const int first = op == Arithmetic::div || op == Arithmetic::sqrt ? 0 : 1;
  for (int i = 0; i < operands; ++i)
    if (const uint64_t v = all[(first + i) % operands]; is_nan(f, v))
      return f.bits() == 64 ? v | uint64_t{1} << 51 : f.nan();
  if (f.bits() != 64) {
    const double x = to_double(f, a), y = operands > 1 ? to_double(f, b) : 0,
                 z = operands > 2 ? to_double(f, c) : 0;
    return compute_mixed(f, op, mode, x, y, z);
  }
  Mode set(machine_mode(mode));
  const uint64_t bits = std::bit_cast<uint64_t>(
      operate(op, std::bit_cast<double>(a), std::bit_cast<double>(b), std::bit_cast<double>(c)));
  return is_nan(f, bits) ? 0xfff8000000000000u : bits;
}

int compare(const Format& f, uint64_t a, uint64_t b) {
  if (is_nan(f, a) || is_nan(f, b)) return 2;
  if (is_zero(f, a) && is_zero(f, b)) return 0;
  // Signed magnitudes order as the numbers do.
  const auto order = [&](uint64_t v) {
    const int64_t magnitude = static_cast<int64_t>(v & (f.sign() - 1));
    return v & f.sign() ? -magnitude : magnitude;
  };
  const int64_t x = order(a), y = order(b);
  return x < y ? -1 : x > y;
}

uint64_t saturate(const Format& f, uint64_t bits) {
  if (is_nan(f, bits) || bits & f.sign()) return 0;
  return bits > f.one() ? f.one() : bits;
}

uint64_t relu(const Format& f, uint64_t bits) {
  if (is_nan(f, bits)) return f.nan();
  return bits & f.sign() ? 0 : bits;
}

}  // namespace limen::oracle
