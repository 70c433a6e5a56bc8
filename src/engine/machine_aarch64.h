// The engine's machine, AArch64; see machine.h. The float control word is FPCR. Default NaNs
// (FPCR.DN) stay off: NaNs pass through as on other machines.
#pragma once
#include <signal.h>

#include <cstdint>

namespace limen::engine {

using FloatControl = uint64_t;
inline constexpr FloatControl float_control_default = 0;        // to nearest, no exception traps
inline constexpr FloatControl float_control_flush = 1u << 24;   // FZ: operands and results
/// By PTX mode: 0 rn, 1 rz, 2 rm, 3 rp.
inline constexpr FloatControl float_control_rounding[4] = {0, 3u << 22, 2u << 22, 1u << 22};
inline constexpr FloatControl float_control_modes = ~FloatControl{0};  // the exceptions are FPSR's

inline FloatControl read_float_control() {
  FloatControl value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}

inline void write_float_control(FloatControl value) { asm volatile("msr fpcr, %0" : : "r"(value)); }

/// Boost's switch of stacks saves d8 to d15 and not FPCR.
inline constexpr bool switch_keeps_float_control = false;

/// Signals that a kernel's own instructions raise. SIGTRAP is `brk`, LLVM's trap.
inline constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

/// Where to go on when a kernel stops: the callee-saved registers of one limen_engine_mark call.
/// The assembly counts on this order.
struct Landing {
  uint64_t x19_to_x30[12] = {};
  uint64_t sp = 0;
  uint64_t d8_to_d15[8] = {};
};

}  // namespace limen::engine
