// What the engine asks of the processor: the float control word, the landing of a kernel that
// faults, and what a signal's context tells. One header for each architecture; the functions that
// are not inline stand in the source file of the same name.
#pragma once
#if defined(__x86_64__)
#include "engine/machine_x86_64.h"
#elif defined(__aarch64__)
#include "engine/machine_aarch64.h"
#else
#error "the engine's landings and fibers are written for x86-64 and AArch64"
#endif

namespace limen::engine {

/// What generated code runs with, by KernelMeta::flush_denormals. A host built with -ffast-math sets
/// flush-to-zero for its threads; kernels must not inherit that, nor leave theirs behind. thread:
/// the word is each thread's own; fibers keep theirs across switches.
constexpr FloatControl float_control_of_kernel(uint32_t flush_denormals) {
  return float_control_default | (flush_denormals != 0 ? float_control_flush : 0);
}

/// Remembers this place in `landing` and returns 0; returns 1 after a landing. Locals changed in
/// between are lost unless volatile. The frame must still be live when the landing happens.
extern "C" int limen_engine_mark(Landing* landing) __attribute__((returns_twice));
/// Continues at the mark; the frames above it vanish without destructors.
extern "C" [[noreturn]] void limen_engine_land(const Landing* landing);

/// Where a signal interrupted its thread.
struct Interrupted {
  uint64_t pc = 0, sp = 0;
};
/// `context`: a signal handler's third argument.
Interrupted interrupted_at(const void* context);
/// Makes the return from the handler a landing.
void land_after_handler(void* context, const Landing& landing);

}  // namespace limen::engine
