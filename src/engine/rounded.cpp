// Directed rounding by MXCSR; see rounded.h.
#include "engine/rounded.h"

#include <bit>
#include <cfenv>
#include <cmath>

#include "devlib/kernel_abi.h"
#include "engine/mxcsr.h"

namespace limen::engine {
namespace {

using kernel::RoundedOp;

/// MXCSR for PTX mode 0 rn, 1 rz, 2 rm, 3 rp, with the caller's FTZ and DAZ.
uint32_t control(uint32_t mode, uint32_t now) {
  constexpr uint32_t rounding[4] = {0x0000, 0x6000, 0x2000, 0x4000};
  return (now & ~0x6000u) | 0x1f80u | rounding[mode & 3];
}

// One instruction between two loads of MXCSR.
#define LIMEN_ROUNDED_2(instruction, a, b)                                       \
  asm volatile("ldmxcsr %[mode]\n\t" instruction " %[y], %[x]\n\tldmxcsr %[old]" \
               : [x] "+x"(a)                                                     \
               : [y] "x"(b), [mode] "m"(set), [old] "m"(old))
#define LIMEN_ROUNDED_1(instruction, out, in)                                    \
  asm volatile("ldmxcsr %[mode]\n\t" instruction " %[y], %[x]\n\tldmxcsr %[old]" \
               : [x] "=&x"(out)                                                  \
               : [y] "x"(in), [mode] "m"(set), [old] "m"(old))
#define LIMEN_ROUNDED_FROM(instruction, out, in)                                 \
  asm volatile("ldmxcsr %[mode]\n\t" instruction " %[y], %[x]\n\tldmxcsr %[old]" \
               : [x] "+x"(out)                                                   \
               : [y] "r"(in), [mode] "m"(set), [old] "m"(old))

bool has_fma() {
  static const bool known = __builtin_cpu_supports("fma") != 0;
  return known;
}

/// Without the machine's fma: the C library's, which honours the rounding mode.
template <typename T>
T library_fma(uint32_t mode, T a, T b, T c) {
  constexpr int directions[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  const int before = std::fegetround();
  std::fesetround(directions[mode & 3]);
  volatile T x = a, y = b, z = c;
  volatile T result = std::fma(T{x}, T{y}, T{z});
  std::fesetround(before);
  return result;
}

/// u64 above 2^63 are halved with a sticky last bit, which keeps every rounding decision.
int64_t halved(uint64_t value) { return static_cast<int64_t>((value >> 1) | (value & 1)); }

uint64_t joined_bits(float low, float high) {
  return std::bit_cast<uint32_t>(low) | uint64_t{std::bit_cast<uint32_t>(high)} << 32;
}

float compute_f32(RoundedOp op, uint32_t mode, float a, float b, float c) {
  const uint32_t old = read_mxcsr();
  const uint32_t set = control(mode, old);
  float result = 0;
  switch (op) {
    case RoundedOp::add:
      LIMEN_ROUNDED_2("addss", a, b);
      return a;
    case RoundedOp::sub:
      LIMEN_ROUNDED_2("subss", a, b);
      return a;
    case RoundedOp::mul:
      LIMEN_ROUNDED_2("mulss", a, b);
      return a;
    case RoundedOp::div:
      LIMEN_ROUNDED_2("divss", a, b);
      return a;
    case RoundedOp::rcp:
      result = 1;
      LIMEN_ROUNDED_2("divss", result, a);
      return result;
    case RoundedOp::sqrt:
      LIMEN_ROUNDED_1("sqrtss", result, a);
      return result;
    case RoundedOp::fma:
      if (!has_fma()) return library_fma(mode, a, b, c);
      asm volatile("ldmxcsr %[mode]\n\tvfmadd213ss %[z], %[y], %[x]\n\tldmxcsr %[old]"
                   : [x] "+x"(a)
                   : [y] "x"(b), [z] "x"(c), [mode] "m"(set), [old] "m"(old));
      return a;
    case RoundedOp::from_s64: {
      const auto value = static_cast<int64_t>(joined_bits(a, b));
      LIMEN_ROUNDED_FROM("cvtsi2ssq", result, value);
      return result;
    }
    case RoundedOp::from_u64: {
      const uint64_t bits = joined_bits(a, b);
      const bool large = bits >> 63 != 0;
      const int64_t value = large ? halved(bits) : static_cast<int64_t>(bits);
      LIMEN_ROUNDED_FROM("cvtsi2ssq", result, value);
      return large ? result * 2 : result;
    }
    case RoundedOp::from_f64: {
      const auto value = std::bit_cast<double>(joined_bits(a, b));
      LIMEN_ROUNDED_1("cvtsd2ss", result, value);
      return result;
    }
  }
  return std::bit_cast<float>(0x7fffffffu);
}

double compute_f64(RoundedOp op, uint32_t mode, double a, double b, double c) {
  const uint32_t old = read_mxcsr();
  const uint32_t set = control(mode, old);
  double result = 0;
  switch (op) {
    case RoundedOp::add:
      LIMEN_ROUNDED_2("addsd", a, b);
      return a;
    case RoundedOp::sub:
      LIMEN_ROUNDED_2("subsd", a, b);
      return a;
    case RoundedOp::mul:
      LIMEN_ROUNDED_2("mulsd", a, b);
      return a;
    case RoundedOp::div:
      LIMEN_ROUNDED_2("divsd", a, b);
      return a;
    case RoundedOp::rcp:
      result = 1;
      LIMEN_ROUNDED_2("divsd", result, a);
      return result;
    case RoundedOp::sqrt:
      LIMEN_ROUNDED_1("sqrtsd", result, a);
      return result;
    case RoundedOp::fma:
      if (!has_fma()) return library_fma(mode, a, b, c);
      asm volatile("ldmxcsr %[mode]\n\tvfmadd213sd %[z], %[y], %[x]\n\tldmxcsr %[old]"
                   : [x] "+x"(a)
                   : [y] "x"(b), [z] "x"(c), [mode] "m"(set), [old] "m"(old));
      return a;
    case RoundedOp::from_s64: {
      const auto value = std::bit_cast<int64_t>(a);
      LIMEN_ROUNDED_FROM("cvtsi2sdq", result, value);
      return result;
    }
    case RoundedOp::from_u64: {
      const auto bits = std::bit_cast<uint64_t>(a);
      const bool large = bits >> 63 != 0;
      const int64_t value = large ? halved(bits) : static_cast<int64_t>(bits);
      LIMEN_ROUNDED_FROM("cvtsi2sdq", result, value);
      return large ? result * 2 : result;
    }
    case RoundedOp::from_f64:
      return a;
  }
  return std::bit_cast<double>(0x7ff8000000000000u);
}

}  // namespace

float rounded_f32(uint32_t op, uint32_t mode, float a, float b, float c) {
  const float result = compute_f32(static_cast<RoundedOp>(op), mode, a, b, c);
  // PTX: a NaN result of an f32 operation is the canonical one.
  return std::isnan(result) ? std::bit_cast<float>(0x7fffffffu) : result;
}

double rounded_f64(uint32_t op, uint32_t mode, double a, double b, double c) {
  return compute_f64(static_cast<RoundedOp>(op), mode, a, b, c);
}

}  // namespace limen::engine
