// For tests of jit_test that look at the code: what the compiler may use on this processor.
#pragma once

namespace limen::test {

#if defined(__x86_64__)
inline constexpr bool is_x86_64 = true;
inline bool has_avx2() { return __builtin_cpu_supports("avx2"); }
inline bool has_avx512() {
  return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq");
}
#else
inline constexpr bool is_x86_64 = false;
inline bool has_avx2() { return false; }
inline bool has_avx512() { return false; }
#endif

}  // namespace limen::test
