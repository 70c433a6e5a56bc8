// Single operations of AArch64 under a control word: one instruction between two writes of FPCR, in
// one assembly block, which no compiler can move code into or out of. Private to rounded.cpp.
#pragma once
#include <cstdint>

#include "engine/machine.h"

namespace limen::engine {

// `size`: the operands' registers, s or d.
#define LIMEN_DIRECTED_2(instruction, size)                                                \
  asm volatile("msr fpcr, %[mode]\n\t" instruction " %" size "[r], %" size "[x], %" size  \
               "[y]\n\tmsr fpcr, %[old]"                                                   \
               : [r] "=w"(result)                                                          \
               : [x] "w"(a), [y] "w"(b), [mode] "r"(set_), [old] "r"(old_))
#define LIMEN_DIRECTED_1(instruction, to, from)                                   \
  asm volatile("msr fpcr, %[mode]\n\t" instruction " %" to "[r], %" from           \
               "[x]\n\tmsr fpcr, %[old]"                                           \
               : [r] "=w"(result)                                                  \
               : [x] "w"(a), [mode] "r"(set_), [old] "r"(old_))
#define LIMEN_DIRECTED_3(size)                                                             \
  asm volatile("msr fpcr, %[mode]\n\tfmadd %" size "[r], %" size "[x], %" size "[y], %" size \
               "[z]\n\tmsr fpcr, %[old]"                                                   \
               : [r] "=w"(result)                                                          \
               : [x] "w"(a), [y] "w"(b), [z] "w"(c), [mode] "r"(set_), [old] "r"(old_))
#define LIMEN_DIRECTED_FROM(size)                                                       \
  asm volatile("msr fpcr, %[mode]\n\tscvtf %" size "[r], %x[x]\n\tmsr fpcr, %[old]"      \
               : [r] "=w"(result)                                                       \
               : [x] "r"(value), [mode] "r"(set_), [old] "r"(old_))

/// The operations in PTX mode 0 rn, 1 rz, 2 rm, 3 rp, with the caller's flush to zero.
class Directed {
 public:
  explicit Directed(uint32_t mode)
      : old_(read_float_control()),
        set_((old_ & ~float_control_rounding[1]) | float_control_rounding[mode & 3]) {}

  float add(float a, float b) const { float result; LIMEN_DIRECTED_2("fadd", "s"); return result; }
  float sub(float a, float b) const { float result; LIMEN_DIRECTED_2("fsub", "s"); return result; }
  float mul(float a, float b) const { float result; LIMEN_DIRECTED_2("fmul", "s"); return result; }
  float div(float a, float b) const { float result; LIMEN_DIRECTED_2("fdiv", "s"); return result; }
  double add(double a, double b) const { double result; LIMEN_DIRECTED_2("fadd", "d"); return result; }
  double sub(double a, double b) const { double result; LIMEN_DIRECTED_2("fsub", "d"); return result; }
  double mul(double a, double b) const { double result; LIMEN_DIRECTED_2("fmul", "d"); return result; }
  double div(double a, double b) const { double result; LIMEN_DIRECTED_2("fdiv", "d"); return result; }

  float sqrt(float a) const {
    float result;
    LIMEN_DIRECTED_1("fsqrt", "s", "s");
    return result;
  }
  double sqrt(double a) const {
    double result;
    LIMEN_DIRECTED_1("fsqrt", "d", "d");
    return result;
  }
  float fma(float a, float b, float c) const {
    float result;
    LIMEN_DIRECTED_3("s");
    return result;
  }
  double fma(double a, double b, double c) const {
    double result;
    LIMEN_DIRECTED_3("d");
    return result;
  }
  void convert(int64_t value, float& result) const { LIMEN_DIRECTED_FROM("s"); }
  void convert(int64_t value, double& result) const { LIMEN_DIRECTED_FROM("d"); }
  float narrow(double a) const {
    float result;
    LIMEN_DIRECTED_1("fcvt", "s", "d");
    return result;
  }

 private:
  FloatControl old_, set_;
};

#undef LIMEN_DIRECTED_1
#undef LIMEN_DIRECTED_2
#undef LIMEN_DIRECTED_3
#undef LIMEN_DIRECTED_FROM

}  // namespace limen::engine
