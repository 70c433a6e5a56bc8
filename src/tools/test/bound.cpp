// True values come from the C library in long double: its error is far below any bound here.
#include "tools/test/bound.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace limen::golden {

namespace {

struct Format {
  unsigned bits, mantissa;
  int least_exponent;  ///< of a normal number
};

constexpr Format half{16, 10, -14}, brain{16, 7, -126}, single{32, 23, -126}, twice{64, 52, -1022};

/// The format of the instruction's type, and how many stand in a register.
Format format_of(const std::string& opcode, unsigned& lanes) {
  std::string type = opcode.substr(opcode.rfind('.') + 1);
  lanes = type.size() > 2 && type.compare(type.size() - 2, 2, "x2") == 0 ? 2 : 1;
  if (type.rfind("f16", 0) == 0) return half;
  if (type.rfind("bf16", 0) == 0) return brain;
  return type == "f64" ? twice : single;
}

long double value_of(uint64_t bits, const Format& f) {
  if (f.bits == 64) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  bool negative = bits >> (f.bits - 1) & 1;
  uint64_t fraction = bits & ((uint64_t{1} << f.mantissa) - 1);
  int exponent = static_cast<int>(bits >> f.mantissa & ((1u << (f.bits - 1 - f.mantissa)) - 1));
  int top = (1 << (f.bits - 1 - f.mantissa)) - 1;
  long double value;
  if (exponent == top)
    value = fraction ? std::numeric_limits<long double>::quiet_NaN()
                     : std::numeric_limits<long double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(static_cast<long double>(fraction),
                       f.least_exponent - static_cast<int>(f.mantissa));
  else
    value = std::ldexp(static_cast<long double>(fraction + (uint64_t{1} << f.mantissa)),
                       exponent - 1 + f.least_exponent - static_cast<int>(f.mantissa));
  return negative ? -value : value;
}

long double ulp_of(long double value, const Format& f) {
  int exponent = value == 0 ? f.least_exponent : std::max(std::ilogb(value), f.least_exponent);
  return std::ldexp(1.0L, exponent - static_cast<int>(f.mantissa));
}

/// Number of representable values between two results.
double steps_between(uint64_t a, uint64_t b, const Format& f) {
  uint64_t sign = uint64_t{1} << (f.bits - 1);
  auto place = [&](uint64_t bits) {
    double magnitude = static_cast<double>(bits & (sign - 1));
    return bits & sign ? -magnitude : magnitude;
  };
  return std::fabs(place(a) - place(b));
}

long double true_value(const std::string& root, const std::vector<long double>& x, bool& known) {
  known = true;
  if (root == "div") return x[0] / x[1];
  if (root == "rcp") return 1 / x[0];
  if (root == "sqrt") return std::sqrt(x[0]);
  if (root == "rsqrt") return 1 / std::sqrt(x[0]);
  if (root == "sin") return std::sin(x[0]);
  if (root == "cos") return std::cos(x[0]);
  if (root == "lg2") return std::log2(x[0]);
  if (root == "ex2") return std::exp2(x[0]);
  if (root == "tanh") return std::tanh(x[0]);
  known = false;
  return 0;
}

/// `2 ulp`, `rel 2^-22.9`, `abs 2^-20.5 to 2pi, 2^-14.7 to 100pi` as an absolute error at that
/// value of the operand `x`; negative where the manual promises nothing. An absolute bound grows
/// with results above 1, where the manual's are relative (lg2).
long double allowed_error(const std::string& bound, long double value, long double x,
                          const Format& f) {
  if (bound.find(" ulp") != std::string::npos) return std::atof(bound.c_str()) * ulp_of(value, f);
  bool absolute = bound.rfind("abs", 0) == 0;
  long double scale = absolute ? std::max(1.0L, std::fabs(value)) : std::fabs(value);
  for (size_t at = bound.find("2^"); at != std::string::npos; at = bound.find("2^", at + 1)) {
    long double error = std::exp2(static_cast<long double>(std::atof(bound.c_str() + at + 2)));
    size_t to = bound.find(" to ", at);
    if (to == std::string::npos) return error * scale;
    const long double pi = 3.14159265358979323846L;
    if (std::fabs(x) <= std::atof(bound.c_str() + to + 4) * pi) return error * scale;
  }
  return -1;
}

Distance compare_lane(const std::string& root, const std::string& bound, const Format& f,
                      const std::vector<uint64_t>& operands, uint64_t want, uint64_t got) {
  if (want == got) return {};
  long double w = value_of(want, f), g = value_of(got, f);
  bool absolute = bound.rfind("abs", 0) == 0;
  if (!std::isfinite(w) || !std::isfinite(g) || (!absolute && (w == 0 || g == 0)))
    return {std::numeric_limits<double>::infinity(), false, true};
  std::vector<long double> x;
  for (uint64_t bits : operands) x.push_back(value_of(bits, f));
  bool known = false;
  long double exact = true_value(root, x, known);
  Distance out{steps_between(want, got, f), false, true};
  if (absolute && (exact == 0 || !std::isfinite(exact))) return out;
  if (!known || !std::isfinite(exact)) {
    out.within = std::fabs(g - w) <= allowed_error(bound, w, x[0], f);
    return out;
  }
  long double device_error = std::fabs(w - exact);
  long double promised = allowed_error(bound, exact, x[0], f);
  if (promised < 0) {
    // Arguments the manual promises nothing for: the device is followed as closely as inside.
    out.within = std::fabs(g - w) <= allowed_error(bound, w, 0, f);
    out.counted = false;
    return out;
  }
  long double allowed = std::max(promised, ulp_of(exact, f) / 2);
  out.within = std::fabs(g - exact) <= std::max(allowed, device_error);
  out.counted = promised >= 0 && device_error <= allowed;
  return out;
}

}  // namespace

Distance compare_bounded(const std::string& text, const std::string& bound,
                         const std::vector<uint64_t>& operands, uint64_t want, uint64_t got) {
  std::string opcode = text.substr(0, text.find(' '));
  std::string root = opcode.substr(0, opcode.find('.'));
  unsigned lanes = 1;
  Format f = format_of(opcode, lanes);
  uint64_t mask = f.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << f.bits) - 1;
  Distance worst;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    std::vector<uint64_t> part;
    for (uint64_t bits : operands) part.push_back(bits >> lane * f.bits % 64 & mask);
    Distance one = compare_lane(root, bound, f, part, want >> lane * f.bits % 64 & mask,
                                got >> lane * f.bits % 64 & mask);
    worst.within &= one.within;
    // rcp and rsqrt.approx.ftz.f64 leave the lower half of the result zero.
    if (opcode.find(".approx.ftz.f64") != std::string::npos)
      worst.within &= (got & 0xffffffff) == 0;
    worst.counted &= one.counted;
    if (one.counted) worst.ulp = std::max(worst.ulp, one.ulp);
  }
  return worst;
}

}  // namespace limen::golden
