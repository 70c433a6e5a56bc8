// The engine's machine, x86-64; see machine.h. The float control word is MXCSR.
#pragma once
#include <signal.h>

#include <cstdint>

namespace limen::engine {

using FloatControl = uint32_t;
inline constexpr FloatControl float_control_default = 0x1f80;  // to nearest, all exceptions masked
inline constexpr FloatControl float_control_flush = 0x8040;    // FTZ and DAZ
/// By PTX mode: 0 rn, 1 rz, 2 rm, 3 rp.
inline constexpr FloatControl float_control_rounding[4] = {0x0000, 0x6000, 0x2000, 0x4000};
inline constexpr FloatControl float_control_modes = 0xffc0;  // all but the exceptions that happened

/// Waits for all arithmetic under way, as it reads the exceptions that have happened.
inline FloatControl read_float_control() {
  FloatControl value;
  asm volatile("stmxcsr %0" : "=m"(value));
  return value;
}

inline void write_float_control(FloatControl value) {
  asm volatile("ldmxcsr %0" : : "m"(value));
}

/// Boost's switch of stacks saves MXCSR.
inline constexpr bool switch_keeps_float_control = true;

/// Signals that a kernel's own instructions raise.
inline constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/// Where to go on when a kernel stops: the callee-saved registers of one limen_engine_mark call.
struct Landing {
  uint64_t rbx = 0, rbp = 0, r12 = 0, r13 = 0, r14 = 0, r15 = 0, rsp = 0, rip = 0;
};

}  // namespace limen::engine
