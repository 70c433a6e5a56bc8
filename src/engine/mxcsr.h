// The floating-point control word kernels run with. A host built with -ffast-math sets
// flush-to-zero for its threads; kernels must not inherit that, nor leave theirs behind. Thread
// rule: per thread by nature; fibers keep their own across switches.
#pragma once
#include <cstdint>

namespace limen::engine {

inline constexpr uint32_t mxcsr_default = 0x1f80;  // round to nearest, all exceptions masked
inline constexpr uint32_t mxcsr_flush = 0x8040;    // FTZ and DAZ

/// What generated code runs with, by KernelMeta::flush_denormals.
constexpr uint32_t mxcsr_of_kernel(uint32_t flush_denormals) {
  return mxcsr_default | (flush_denormals != 0 ? mxcsr_flush : 0);
}

/// Waits for all arithmetic under way, as it reads the exceptions that have happened.
inline uint32_t read_mxcsr() {
  uint32_t value;
  asm volatile("stmxcsr %0" : "=m"(value));
  return value;
}

inline void write_mxcsr(uint32_t value) { asm volatile("ldmxcsr %0" : : "m"(value)); }

}  // namespace limen::engine
