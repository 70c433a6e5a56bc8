// Landings and signal contexts of x86-64; see machine.h. Thread rule: no state.
#include <ucontext.h>

#include "engine/machine.h"
#include "engine/texture_lanes.h"

// clang-format off
asm(R"(
  .text
  .hidden limen_engine_mark
  .globl limen_engine_mark
  .type limen_engine_mark, @function
limen_engine_mark:
  movq %rbx, 0(%rdi)
  movq %rbp, 8(%rdi)
  movq %r12, 16(%rdi)
  movq %r13, 24(%rdi)
  movq %r14, 32(%rdi)
  movq %r15, 40(%rdi)
  leaq 8(%rsp), %rdx
  movq %rdx, 48(%rdi)
  movq (%rsp), %rdx
  movq %rdx, 56(%rdi)
  xorl %eax, %eax
  ret
  .size limen_engine_mark, .-limen_engine_mark

  .hidden limen_engine_land
  .globl limen_engine_land
  .type limen_engine_land, @function
limen_engine_land:
  movq 0(%rdi), %rbx
  movq 8(%rdi), %rbp
  movq 16(%rdi), %r12
  movq 24(%rdi), %r13
  movq 32(%rdi), %r14
  movq 40(%rdi), %r15
  movq 48(%rdi), %rsp
  movl $1, %eax
  cld
  jmpq *56(%rdi)
  .size limen_engine_land, .-limen_engine_land
)");
// clang-format on

namespace limen::engine {

Interrupted interrupted_at(const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return {static_cast<uint64_t>(registers[REG_RIP]), static_cast<uint64_t>(registers[REG_RSP])};
}

void land_after_handler(void* context, const Landing& landing) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RBX] = static_cast<greg_t>(landing.rbx);
  registers[REG_RBP] = static_cast<greg_t>(landing.rbp);
  registers[REG_R12] = static_cast<greg_t>(landing.r12);
  registers[REG_R13] = static_cast<greg_t>(landing.r13);
  registers[REG_R14] = static_cast<greg_t>(landing.r14);
  registers[REG_R15] = static_cast<greg_t>(landing.r15);
  registers[REG_RSP] = static_cast<greg_t>(landing.rsp);
  registers[REG_RIP] = static_cast<greg_t>(landing.rip);
  registers[REG_RAX] = 1;
  constexpr greg_t direction_flag = 0x400, alignment_check = 0x40000;
  registers[REG_EFL] &= ~(direction_flag | alignment_check);
}

bool machine_fetches_lanes() {
  static const bool able =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return able;
}

}  // namespace limen::engine
