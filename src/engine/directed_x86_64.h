// Single operations of x86-64 under a control word: one instruction between two loads of MXCSR, in
// one assembly block, which no compiler can move code into or out of. Private to rounded.cpp.
#pragma once
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "engine/machine.h"

namespace limen::engine {

#define LIMEN_DIRECTED_2(instruction, a, b)                                      \
  asm volatile("ldmxcsr %[mode]\n\t" instruction " %[y], %[x]\n\tldmxcsr %[old]" \
               : [x] "+x"(a)                                                     \
               : [y] "x"(b), [mode] "m"(set_), [old] "m"(old_))
#define LIMEN_DIRECTED_1(instruction, out, in)                                   \
  asm volatile("ldmxcsr %[mode]\n\t" instruction " %[y], %[x]\n\tldmxcsr %[old]" \
               : [x] "=&x"(out)                                                  \
               : [y] "x"(in), [mode] "m"(set_), [old] "m"(old_))
#define LIMEN_DIRECTED_FROM(instruction, out, in)                                \
  asm volatile("ldmxcsr %[mode]\n\t" instruction " %[y], %[x]\n\tldmxcsr %[old]" \
               : [x] "+x"(out)                                                   \
               : [y] "r"(in), [mode] "m"(set_), [old] "m"(old_))
#define LIMEN_DIRECTED_3(instruction, a, b, c)                                           \
  asm volatile("ldmxcsr %[mode]\n\t" instruction " %[z], %[y], %[x]\n\tldmxcsr %[old]" \
               : [x] "+x"(a)                                                             \
               : [y] "x"(b), [z] "x"(c), [mode] "m"(set_), [old] "m"(old_))

/// The operations in PTX mode 0 rn, 1 rz, 2 rm, 3 rp, with the caller's FTZ and DAZ.
class Directed {
 public:
  explicit Directed(uint32_t mode)
      : mode_(mode & 3), old_(read_float_control()), set_(control(mode_, old_)) {}

  float add(float a, float b) const { LIMEN_DIRECTED_2("addss", a, b); return a; }
  float sub(float a, float b) const { LIMEN_DIRECTED_2("subss", a, b); return a; }
  float mul(float a, float b) const { LIMEN_DIRECTED_2("mulss", a, b); return a; }
  float div(float a, float b) const { LIMEN_DIRECTED_2("divss", a, b); return a; }
  double add(double a, double b) const { LIMEN_DIRECTED_2("addsd", a, b); return a; }
  double sub(double a, double b) const { LIMEN_DIRECTED_2("subsd", a, b); return a; }
  double mul(double a, double b) const { LIMEN_DIRECTED_2("mulsd", a, b); return a; }
  double div(double a, double b) const { LIMEN_DIRECTED_2("divsd", a, b); return a; }

  float sqrt(float a) const {
    float result;
    LIMEN_DIRECTED_1("sqrtss", result, a);
    return result;
  }
  double sqrt(double a) const {
    double result;
    LIMEN_DIRECTED_1("sqrtsd", result, a);
    return result;
  }
  float fma(float a, float b, float c) const {
    if (!has_fma()) return library_fma(a, b, c);
    LIMEN_DIRECTED_3("vfmadd213ss", a, b, c);
    return a;
  }
  double fma(double a, double b, double c) const {
    if (!has_fma()) return library_fma(a, b, c);
    LIMEN_DIRECTED_3("vfmadd213sd", a, b, c);
    return a;
  }
  void convert(int64_t value, float& result) const {
    result = 0;
    LIMEN_DIRECTED_FROM("cvtsi2ssq", result, value);
  }
  void convert(int64_t value, double& result) const {
    result = 0;
    LIMEN_DIRECTED_FROM("cvtsi2sdq", result, value);
  }
  float narrow(double value) const {
    float result;
    LIMEN_DIRECTED_1("cvtsd2ss", result, value);
    return result;
  }

 private:
  static FloatControl control(uint32_t mode, FloatControl now) {
    return (now & ~float_control_rounding[1]) | float_control_default |
           float_control_rounding[mode];
  }
  static bool has_fma() {
    static const bool known = __builtin_cpu_supports("fma") != 0;
    return known;
  }
  /// Without the machine's fma: the C library's, which honours the rounding mode.
  template <typename T>
  T library_fma(T a, T b, T c) const {
    constexpr int directions[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    const int before = std::fegetround();
    std::fesetround(directions[mode_]);
    volatile T x = a, y = b, z = c;
    volatile T result = std::fma(T{x}, T{y}, T{z});
    std::fesetround(before);
    return result;
  }

  uint32_t mode_;
  FloatControl old_, set_;
};

#undef LIMEN_DIRECTED_1
#undef LIMEN_DIRECTED_2
#undef LIMEN_DIRECTED_3
#undef LIMEN_DIRECTED_FROM

}  // namespace limen::engine
