// The code of the helpers for x86-64; see helpers.cpp. Only SSE2, with the registers that the System
// V ABI gives a callee.

// In .rodata: these bytes are data of ours and never run from here.
asm(R"(
  .pushsection .rodata
  .balign 16
  .globl limen_helper_move_begin
  .hidden limen_helper_move_begin
limen_helper_move_begin:             # rdi to, rsi from, rdx bytes; overlap allowed
  movq %rdi, %rax
  cmpq $16, %rdx
  jae 3f
  cmpl $8, %edx
  jae 2f
  cmpl $4, %edx
  jae 1f
  testl %edx, %edx
  je 9f
  movzbl (%rsi), %ecx                # 1 to 3: first, middle, last byte, read before any is written
  movzbl -1(%rsi,%rdx), %r8d
  movq %rdx, %r9
  shrq $1, %r9
  movzbl (%rsi,%r9), %r10d
  movb %cl, (%rdi)
  movb %r10b, (%rdi,%r9)
  movb %r8b, -1(%rdi,%rdx)
9:
  ret
1:                                   # 4 to 7: two words that overlap
  movl (%rsi), %ecx
  movl -4(%rsi,%rdx), %r8d
  movl %ecx, (%rdi)
  movl %r8d, -4(%rdi,%rdx)
  ret
2:                                   # 8 to 15
  movq (%rsi), %rcx
  movq -8(%rsi,%rdx), %r8
  movq %rcx, (%rdi)
  movq %r8, -8(%rdi,%rdx)
  ret
3:
  cmpq $32, %rdx
  ja 4f
  movups (%rsi), %xmm0               # 16 to 32
  movups -16(%rsi,%rdx), %xmm1
  movups %xmm0, (%rdi)
  movups %xmm1, -16(%rdi,%rdx)
  ret
4:
  movq %rdi, %rcx
  subq %rsi, %rcx
  cmpq %rdx, %rcx
  jb 6f                              # `to` lies inside [from, from + bytes): go backward
  movups -32(%rsi,%rdx), %xmm2       # the last 32 bytes, before the loop may overwrite them
  movups -16(%rsi,%rdx), %xmm3
  leaq -32(%rdx), %r8
  xorl %ecx, %ecx
5:
  movups (%rsi,%rcx), %xmm0
  movups 16(%rsi,%rcx), %xmm1
  movups %xmm0, (%rdi,%rcx)
  movups %xmm1, 16(%rdi,%rcx)
  addq $32, %rcx
  cmpq %r8, %rcx
  jb 5b
  movups %xmm2, -32(%rdi,%rdx)
  movups %xmm3, -16(%rdi,%rdx)
  ret
6:
  movups (%rsi), %xmm2               # the first 32 bytes
  movups 16(%rsi), %xmm3
  movq %rdx, %rcx
7:
  movups -16(%rsi,%rcx), %xmm0
  movups -32(%rsi,%rcx), %xmm1
  movups %xmm0, -16(%rdi,%rcx)
  movups %xmm1, -32(%rdi,%rcx)
  subq $32, %rcx
  cmpq $32, %rcx
  ja 7b
  movups %xmm2, (%rdi)
  movups %xmm3, 16(%rdi)
  ret
  .globl limen_helper_move_end
  .hidden limen_helper_move_end
limen_helper_move_end:

  .balign 16
  .globl limen_helper_set_begin
  .hidden limen_helper_set_begin
limen_helper_set_begin:              # rdi to, sil value, rdx bytes
  movq %rdi, %rax
  movzbl %sil, %ecx
  movabsq $0x0101010101010101, %r8
  imulq %rcx, %r8
  cmpq $16, %rdx
  jae 3f
  cmpl $8, %edx
  jae 2f
  cmpl $4, %edx
  jae 1f
  testl %edx, %edx
  je 9f
  movb %r8b, (%rdi)
  movb %r8b, -1(%rdi,%rdx)
  shrq $1, %rdx
  movb %r8b, (%rdi,%rdx)
9:
  ret
1:
  movl %r8d, (%rdi)
  movl %r8d, -4(%rdi,%rdx)
  ret
2:
  movq %r8, (%rdi)
  movq %r8, -8(%rdi,%rdx)
  ret
3:
  movq %r8, %xmm0
  punpcklqdq %xmm0, %xmm0
  movups %xmm0, -16(%rdi,%rdx)
  subq $16, %rdx
  xorl %ecx, %ecx
4:
  movups %xmm0, (%rdi,%rcx)
  addq $16, %rcx
  cmpq %rdx, %rcx
  jb 4b
  ret
  .globl limen_helper_set_end
  .hidden limen_helper_set_end
limen_helper_set_end:
  .popsection
)");
