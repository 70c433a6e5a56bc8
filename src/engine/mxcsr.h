// The floating-point control word kernels run with. A host built with -ffast-math sets
// flush-to-zero for its threads; kernels must not inherit that, nor leave theirs behind. Thread
// rule: per thread by nature; fibers keep their own across switches.
#pragma once
#include <cstdint>

namespace limen::engine {

inline constexpr uint32_t mxcsr_default = 0x1f80;  // round to nearest, all exceptions masked
inline constexpr uint32_t mxcsr_status = 0x003f;   // exceptions that have happened
inline constexpr uint32_t mxcsr_flush = 0x8040;    // FTZ and DAZ

inline uint32_t read_mxcsr() {
  uint32_t value;
  asm volatile("stmxcsr %0" : "=m"(value));
  return value;
}

inline void write_mxcsr(uint32_t value) { asm volatile("ldmxcsr %0" : : "m"(value)); }

}  // namespace limen::engine
