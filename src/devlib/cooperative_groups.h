// The grid-wide functions of NVIDIA's device runtime (libcudadevrt), which Numba and older
// cooperative_groups headers call, as PTX of our own: linked to a program that leaves them without a
// body. The barrier's two words lie in the grid's workspace (LaunchContext::workspace), behind
// those that today's headers use there. Thread rule: constants.
// source: cuda_device_runtime_api.h, CUDA 13.0, for names and parameters.
#pragma once
#include <string_view>

namespace limen::kernel {

inline constexpr std::string_view cooperative_functions[] = {
    "cudaCGGetIntrinsicHandle", "cudaCGSynchronize", "cudaCGGetSize", "cudaCGGetRank"};

/// Is it one of them?
inline bool is_cooperative_function(std::string_view name) {
  for (std::string_view known : cooperative_functions)
    if (known == name) return true;
  return false;
}

// The handle of a grid is its workspace; 0 where the launch was not cooperative. A barrier counts
// blocks in the first word, and the last one moves the second on, for which the others wait.
// Results: 0 and 1 are cudaSuccess and cudaErrorInvalidValue.
inline constexpr std::string_view cooperative_ptx = R"(
.version 6.4
.target sm_70
.address_size 64
.weak .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %p; .reg .b32 %s, %low, %high; .reg .b64 %h;
  ld.param.b32 %s, [scope];
  mov.b32 %high, %envreg1;
  mov.b32 %low, %envreg2;
  mov.b64 %h, {%low, %high};
  setp.ne.u32 %p, %s, 1;
  @%p mov.b64 %h, 0;
  st.param.b64 [result], %h;
  ret;
}
.weak .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p; .reg .b32 %a, %b, %c, %total, %turn, %now; .reg .b64 %h;
  ld.param.b64 %h, [handle];
  setp.eq.u64 %p, %h, 0;
  @%p bra refuse;
  bar.sync 0;
  mov.u32 %a, %tid.x;
  mov.u32 %b, %tid.y;
  mov.u32 %c, %tid.z;
  or.b32 %a, %a, %b;
  or.b32 %a, %a, %c;
  setp.ne.u32 %p, %a, 0;
  @%p bra meet;
  mov.u32 %total, %nctaid.x;
  mov.u32 %b, %nctaid.y;
  mov.u32 %c, %nctaid.z;
  mul.lo.u32 %total, %total, %b;
  mul.lo.u32 %total, %total, %c;
  sub.u32 %total, %total, 1;
  ld.acquire.gpu.u32 %turn, [%h+36];
  membar.gl;
  atom.inc.u32 %now, [%h+32], %total;
  setp.ne.u32 %p, %now, %total;
  @%p bra wait;
  membar.gl;
  atom.add.u32 %now, [%h+36], 1;
  bra meet;
wait:
  ld.acquire.gpu.u32 %now, [%h+36];
  setp.eq.u32 %p, %now, %turn;
  @%p bra wait;
  membar.gl;
meet:
  bar.sync 0;
  st.param.b32 [result], 0;
  ret;
refuse:
  st.param.b32 [result], 1;
  ret;
}
.weak .func (.param .b32 result) cudaCGGetSize(.param .b64 threads, .param .b64 grids,
                                               .param .b64 handle)
{
  .reg .pred %p; .reg .b32 %a, %b; .reg .b64 %t, %g, %h;
  ld.param.b64 %t, [threads];
  ld.param.b64 %g, [grids];
  ld.param.b64 %h, [handle];
  setp.eq.u64 %p, %h, 0;
  @%p bra refuse;
  mov.u32 %a, %ntid.x;
  mov.u32 %b, %ntid.y;
  mul.lo.u32 %a, %a, %b;
  mov.u32 %b, %ntid.z;
  mul.lo.u32 %a, %a, %b;
  mov.u32 %b, %nctaid.x;
  mul.lo.u32 %a, %a, %b;
  mov.u32 %b, %nctaid.y;
  mul.lo.u32 %a, %a, %b;
  mov.u32 %b, %nctaid.z;
  mul.lo.u32 %a, %a, %b;
  setp.ne.u64 %p, %t, 0;
  @%p st.u32 [%t], %a;
  setp.ne.u64 %p, %g, 0;
  @%p st.u32 [%g], 1;
  st.param.b32 [result], 0;
  ret;
refuse:
  st.param.b32 [result], 1;
  ret;
}
.weak .func (.param .b32 result) cudaCGGetRank(.param .b64 thread, .param .b64 grid,
                                               .param .b64 handle)
{
  .reg .pred %p; .reg .b32 %r, %a; .reg .b64 %t, %g, %h;
  ld.param.b64 %t, [thread];
  ld.param.b64 %g, [grid];
  ld.param.b64 %h, [handle];
  setp.eq.u64 %p, %h, 0;
  @%p bra refuse;
  mov.u32 %r, %ctaid.z;
  mov.u32 %a, %nctaid.y;
  mul.lo.u32 %r, %r, %a;
  mov.u32 %a, %ctaid.y;
  add.u32 %r, %r, %a;
  mov.u32 %a, %nctaid.x;
  mul.lo.u32 %r, %r, %a;
  mov.u32 %a, %ctaid.x;
  add.u32 %r, %r, %a;
  mov.u32 %a, %ntid.z;
  mul.lo.u32 %r, %r, %a;
  mov.u32 %a, %tid.z;
  add.u32 %r, %r, %a;
  mov.u32 %a, %ntid.y;
  mul.lo.u32 %r, %r, %a;
  mov.u32 %a, %tid.y;
  add.u32 %r, %r, %a;
  mov.u32 %a, %ntid.x;
  mul.lo.u32 %r, %r, %a;
  mov.u32 %a, %tid.x;
  add.u32 %r, %r, %a;
  setp.ne.u64 %p, %t, 0;
  @%p st.u32 [%t], %r;
  setp.ne.u64 %p, %g, 0;
  @%p st.u32 [%g], 0;
  st.param.b32 [result], 0;
  ret;
refuse:
  st.param.b32 [result], 1;
  ret;
}
)";

}  // namespace limen::kernel
