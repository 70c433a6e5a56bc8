// The code of the helpers for AArch64; see helpers.cpp. Only Advanced SIMD, with the registers that
// the procedure call standard gives a callee.

// In .rodata: these bytes are data of ours and never run from here.
asm(R"(
  .pushsection .rodata
  .balign 16
  .globl limen_helper_move_begin
  .hidden limen_helper_move_begin
limen_helper_move_begin:             // x0 to, x1 from, x2 bytes; overlap allowed
  add x6, x1, x2
  add x7, x0, x2
  cmp x2, #16
  b.hs 3f
  tbnz x2, #3, 2f
  tbnz x2, #2, 1f
  cbz x2, 9f
  lsr x8, x2, #1
  ldrb w3, [x1]                      // 1 to 3: first, middle, last byte, read before any is written
  ldrb w4, [x1, x8]
  ldurb w5, [x6, #-1]
  strb w3, [x0]
  strb w4, [x0, x8]
  sturb w5, [x7, #-1]
9:
  ret
1:                                   // 4 to 7: two words that overlap
  ldr w3, [x1]
  ldur w4, [x6, #-4]
  str w3, [x0]
  stur w4, [x7, #-4]
  ret
2:                                   // 8 to 15
  ldr x3, [x1]
  ldur x4, [x6, #-8]
  str x3, [x0]
  stur x4, [x7, #-8]
  ret
3:
  cmp x2, #32
  b.hi 4f
  ldr q0, [x1]                       // 16 to 32
  ldur q1, [x6, #-16]
  str q0, [x0]
  stur q1, [x7, #-16]
  ret
4:
  sub x3, x0, x1
  cmp x3, x2
  b.lo 6f                            // `to` lies inside [from, from + bytes): go backward
  ldp q2, q3, [x6, #-32]             // the last 32 bytes, before the loop may overwrite them
  sub x4, x7, #32
  mov x5, x0
5:
  ldp q0, q1, [x1], #32
  stp q0, q1, [x5], #32
  cmp x5, x4
  b.lo 5b
  stp q2, q3, [x7, #-32]
  ret
6:
  ldp q2, q3, [x1]                   // the first 32 bytes
  add x4, x0, #32
7:
  ldp q0, q1, [x6, #-32]!
  stp q0, q1, [x7, #-32]!
  cmp x7, x4
  b.hi 7b
  stp q2, q3, [x0]
  ret
  .globl limen_helper_move_end
  .hidden limen_helper_move_end
limen_helper_move_end:

  .balign 16
  .globl limen_helper_set_begin
  .hidden limen_helper_set_begin
limen_helper_set_begin:              // x0 to, w1 value, x2 bytes
  dup v0.16b, w1
  add x6, x0, x2
  cmp x2, #16
  b.hs 3f
  tbnz x2, #3, 2f
  tbnz x2, #2, 1f
  cbz x2, 9f
  lsr x8, x2, #1
  strb w1, [x0]
  strb w1, [x0, x8]
  sturb w1, [x6, #-1]
9:
  ret
1:
  str s0, [x0]
  stur s0, [x6, #-4]
  ret
2:
  str d0, [x0]
  stur d0, [x6, #-8]
  ret
3:
  stur q0, [x6, #-16]
  sub x4, x6, #16
  mov x5, x0
4:
  cmp x5, x4
  b.hs 9b
  str q0, [x5], #16
  b 4b
  .globl limen_helper_set_end
  .hidden limen_helper_set_end
limen_helper_set_end:
  .popsection
)");
