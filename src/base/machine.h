// The processor architecture that Limen is built for, as far as several rooms ask for it. Each room
// keeps the rest of what depends on it in files named *_x86_64 and *_aarch64; CMake's LIMEN_MACHINE
// picks them.
#pragma once
#include <elf.h>

#include <cstdint>

namespace limen {

#if defined(__x86_64__)

inline constexpr uint16_t elf_machine = EM_X86_64;  ///< of programs and of generated code
inline constexpr const char* machine_name = "x86-64";
/// In loops that wait for another thread.
inline void cpu_pause() { __builtin_ia32_pause(); }

#elif defined(__aarch64__)

inline constexpr uint16_t elf_machine = EM_AARCH64;
inline constexpr const char* machine_name = "AArch64";
inline void cpu_pause() { asm volatile("yield"); }

#else
#error "Limen is written for x86-64 and AArch64"
#endif

}  // namespace limen
