// Launches written by hand in PTX, linked at run time with libcudadevrt.a as the manual says: the
// first kind of parameter buffer (by alignment and size) with cudaLaunchDevice, the second with
// cudaLaunchDeviceV2, and the kernel's address from a table in memory.
#include <cuda.h>

#include <string>

#include "check.h"

static const char* text = R"(.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBuffer(.param .b64 a, .param .b64 b);
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 a,
  .param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);
.extern .func (.param .b32 r) __cudaCDP2LaunchDevice(.param .b64 a, .param .b64 b,
  .param .align 4 .b8 c[12], .param .align 4 .b8 d[12], .param .b32 e, .param .b64 f);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);
.extern .func (.param .b32 r) __cudaCDP2GetLastError;
.visible .entry add(.param .u64 p, .param .u32 n) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  red.global.add.u32 [%rd3], %r1;
  ret;
}
.visible .global .align 8 .u64 table[1] = {add};
.visible .entry top(.param .u64 p) {
  .reg .b64 %rd<8>;
  .reg .b32 %r<8>;
  .reg .pred %q;
  ld.param.u64 %rd1, [p];
  add.u64 %rd7, %rd1, 128;
  ld.global.u64 %rd2, [table];
  { .param .b64 a; .param .b64 b; .param .b64 r;
    st.param.b64 [a], 64; st.param.b64 [b], 12;
    call (r), __cudaCDP2GetParameterBuffer, (a, b);
    ld.param.b64 %rd3, [r]; }
  st.global.u64 [%rd7+16], %rd3;
  setp.eq.u64 %q, %rd3, 0;
  @%q bra second;
  st.u64 [%rd3], %rd1;
  mov.u32 %r1, 5;
  st.u32 [%rd3+8], %r1;
  { .param .b64 a; .param .b64 b; .param .align 4 .b8 c[12]; .param .align 4 .b8 d[12];
    .param .b32 e; .param .b64 f; .param .b32 r;
    st.param.b64 [a], %rd2; st.param.b64 [b], %rd3;
    st.param.b32 [c], 3; st.param.b32 [c+4], 1; st.param.b32 [c+8], 1;
    st.param.b32 [d], 32; st.param.b32 [d+4], 1; st.param.b32 [d+8], 1;
    st.param.b32 [e], 0; st.param.b64 [f], 0;
    call (r), __cudaCDP2LaunchDevice, (a, b, c, d, e, f);
    ld.param.b32 %r6, [r]; }
  st.global.u32 [%rd7], %r6;
second:
  mov.u64 %rd5, add;
  { .param .b64 a; .param .align 4 .b8 b[12]; .param .align 4 .b8 c[12]; .param .b32 d;
    .param .b64 r;
    st.param.b64 [a], %rd5;
    st.param.b32 [b], 2; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
    st.param.b32 [c], 16; st.param.b32 [c+4], 1; st.param.b32 [c+8], 1;
    st.param.b32 [d], 0;
    call (r), __cudaCDP2GetParameterBufferV2, (a, b, c, d);
    ld.param.b64 %rd6, [r]; }
  st.global.u64 [%rd7+24], %rd6;
  setp.eq.u64 %q, %rd6, 0;
  @%q bra end;
  st.u64 [%rd6], %rd1;
  mov.u32 %r2, 100;
  st.u32 [%rd6+8], %r2;
  { .param .b64 a; .param .b64 b; .param .b32 r;
    st.param.b64 [a], %rd6; st.param.b64 [b], 0;
    call (r), __cudaCDP2LaunchDeviceV2, (a, b);
    ld.param.b32 %r3, [r]; }
  st.global.u32 [%rd7+4], %r3;
end:
  { .param .b32 r;
    call (r), __cudaCDP2GetLastError;
    ld.param.b32 %r4, [r]; }
  st.global.u32 [%rd7+8], %r4;
  ret;
})";

#define DRIVE(call)                                                          \
  do {                                                                       \
    CUresult drive_code_ = (call);                                           \
    if (drive_code_ != CUDA_SUCCESS) {                                       \
      std::printf("%s: %d\nFAILED\n", #call, static_cast<int>(drive_code_)); \
      return 1;                                                              \
    }                                                                        \
  } while (0)

int main() {
  Verdict verdict;
  int* p;
  constexpr int words = 40;  // 32 sums, two codes and the last error, two addresses of buffers
  CHECK(cudaMalloc(&p, words * sizeof(int)));
  CHECK(cudaMemset(p, 0, 32 * sizeof(int)));
  CHECK(cudaMemset(p + 32, 0xff, (words - 32) * sizeof(int)));
  const char* root = std::getenv("CUDA_PATH");
  const std::string library =
      std::string(root ? root : "/usr/local/cuda") + "/lib64/libcudadevrt.a";
  CUlinkState link;
  void* image;
  size_t bytes;
  DRIVE(cuLinkCreate(0, nullptr, nullptr, &link));
  DRIVE(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1,
                      "launches", 0, nullptr, nullptr));
  DRIVE(cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, library.c_str(), 0, nullptr, nullptr));
  DRIVE(cuLinkComplete(link, &image, &bytes));
  CUmodule module;
  CUfunction top;
  DRIVE(cuModuleLoadData(&module, image));
  DRIVE(cuLinkDestroy(link));
  DRIVE(cuModuleGetFunction(&top, module, "top"));
  void* parameters[] = {&p};
  DRIVE(cuLaunchKernel(top, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  int got[words];
  CHECK(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
  unsigned long long buffers[2];
  std::memcpy(buffers, got + 36, sizeof buffers);
  for (int i = 0; i < 2; ++i) {
    verdict.equal(got[32 + i], 0, "code of the launch", i);
    verdict.expect(buffers[i] != 0 && buffers[i] % 8 == 0, "parameter buffer", i);
  }
  verdict.equal(got[34], 0, "last error");
  for (int i = 0; i < 32; ++i) verdict.equal(got[i], 15 + (i < 16 ? 200 : 0), "added", i);
  if (verdict.failures)
    std::printf("codes %d %d, last error %d, buffers %llx %llx\n", got[32], got[33], got[34],
                buffers[0], buffers[1]);
  return verdict.finish();
}
