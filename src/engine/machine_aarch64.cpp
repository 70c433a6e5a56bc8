// Landings and signal contexts of AArch64; see machine.h. Thread rule: no state.
// source: Procedure Call Standard for the Arm 64-bit Architecture, 6.1: x19 to x30, sp and the lower
// halves of v8 to v15 are the caller's.
#include <ucontext.h>

#include <cstddef>

#include "engine/machine.h"

// clang-format off
asm(R"(
  .text
  .hidden limen_engine_mark
  .globl limen_engine_mark
  .type limen_engine_mark, %function
limen_engine_mark:
  stp x19, x20, [x0, #0]
  stp x21, x22, [x0, #16]
  stp x23, x24, [x0, #32]
  stp x25, x26, [x0, #48]
  stp x27, x28, [x0, #64]
  stp x29, x30, [x0, #80]
  mov x1, sp
  str x1, [x0, #96]
  stp d8, d9, [x0, #104]
  stp d10, d11, [x0, #120]
  stp d12, d13, [x0, #136]
  stp d14, d15, [x0, #152]
  mov w0, #0
  ret
  .size limen_engine_mark, .-limen_engine_mark

  .hidden limen_engine_land
  .globl limen_engine_land
  .type limen_engine_land, %function
limen_engine_land:
  ldp x19, x20, [x0, #0]
  ldp x21, x22, [x0, #16]
  ldp x23, x24, [x0, #32]
  ldp x25, x26, [x0, #48]
  ldp x27, x28, [x0, #64]
  ldp x29, x30, [x0, #80]
  ldr x1, [x0, #96]
  ldp d8, d9, [x0, #104]
  ldp d10, d11, [x0, #120]
  ldp d12, d13, [x0, #136]
  ldp d14, d15, [x0, #152]
  mov sp, x1
  mov w0, #1
  ret
  .size limen_engine_land, .-limen_engine_land
)");
// clang-format on

namespace limen::engine {

static_assert(offsetof(Landing, sp) == 96 && offsetof(Landing, d8_to_d15) == 104);

Interrupted interrupted_at(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
  return {machine.pc, machine.sp};
}

void land_after_handler(void* context, const Landing& landing) {
  // The vector registers lie in a list of records behind the context: limen_engine_land reads the
  // landing itself, and uses no stack while it does.
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  machine.regs[0] = reinterpret_cast<uint64_t>(&landing);
  machine.pc = reinterpret_cast<uint64_t>(&limen_engine_land);
}

}  // namespace limen::engine
