// Texture and surface references of the driver's old API, in PTX text: an array, linear memory and
// pitched memory bound to one reference in turn, a surface reference, guarded fetches in divergent
// code, and istypep on their addresses. Copies between arrays and memory by the driver's calls.
#include <cuda.h>

#include <vector>

#include "check.h"

#define DRIVER(call)                                                                  \
  do {                                                                                \
    CUresult code_ = (call);                                                          \
    if (code_ != CUDA_SUCCESS) {                                                      \
      std::printf("%s:%d: %s: %d\nFAILED\n", __FILE__, __LINE__, #call, int(code_));  \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

static const char* const text = R"(
.version 8.0
.target sm_75
.address_size 64
.global .texref image;
.global .surfref plane;

.visible .entry fetch(.param .u64 out, .param .u32 flat) {
  .reg .b64 %rd<6>;
  .reg .b32 %r<12>;
  .reg .f32 %f<6>;
  .reg .pred %p<6>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r9, [flat];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.s32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd2, %rd3;
  setp.ne.u32 %p1, %r9, 0;
  and.b32 %r5, %r1, 1;
  setp.eq.u32 %p2, %r5, 0;
  mov.u32 %r6, -1;
  @%p1 bra LINEAR;
  cvt.rn.f32.u32 %f1, %r1;
  cvt.rn.f32.u32 %f2, %r2;
  add.f32 %f1, %f1, 0f3F000000;
  add.f32 %f2, %f2, 0f3F000000;
  @%p2 tex.2d.v4.s32.f32 {%r6, _, _, _}, [image, {%f1, %f2}];
  bra DONE;
LINEAR:
  @!%p2 tex.1d.v4.s32.s32 {%r6, %r7, %r8, %r10}, [image, {%r4}];
DONE:
  st.global.u32 [%rd4], %r6;
  ret;
}

.visible .entry store(.param .u64 out) {
  .reg .b64 %rd<6>;
  .reg .b32 %r<6>;
  .reg .pred %p<6>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shl.b32 %r3, %r1, 2;
  mad.lo.s32 %r4, %r1, 7, %r2;
  sust.b.2d.b32.trap [plane, {%r3, %r2}], %r4;
  mov.u64 %rd3, plane;
  istypep.surfref %p1, %rd3;
  mov.u64 %rd4, image;
  istypep.texref %p2, %rd4;
  istypep.texref %p3, %rd3;
  selp.b32 %r3, 1, 0, %p1;
  selp.b32 %r4, 2, 0, %p2;
  selp.b32 %r5, 4, 0, %p3;
  or.b32 %r3, %r3, %r4;
  or.b32 %r3, %r3, %r5;
  st.global.u32 [%rd2], %r3;
  ret;
}
)";

int main() {
  Verdict verdict;
  DRIVER(cuInit(0));
  CHECK(cudaFree(nullptr));
  CUmodule module;
  DRIVER(cuModuleLoadData(&module, text));
  CUfunction fetch, store;
  DRIVER(cuModuleGetFunction(&fetch, module, "fetch"));
  DRIVER(cuModuleGetFunction(&store, module, "store"));
  CUtexref image, again;
  CUsurfref plane;
  DRIVER(cuModuleGetTexRef(&image, module, "image"));
  DRIVER(cuModuleGetTexRef(&again, module, "image"));
  DRIVER(cuModuleGetSurfRef(&plane, module, "plane"));
  verdict.expect(image == again, "one reference a variable");
  verdict.expect(cuModuleGetTexRef(&again, module, "plane") == CUDA_ERROR_NOT_FOUND,
                 "a surface is no texture");

  const int width = 32, height = 4, count = width * height;
  CUDA_ARRAY3D_DESCRIPTOR desc = {};
  desc.Width = width, desc.Height = height;
  desc.Format = CU_AD_FORMAT_SIGNED_INT32, desc.NumChannels = 1;
  desc.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  CUarray array;
  DRIVER(cuArray3DCreate(&array, &desc));
  std::vector<int> data(count), got(count);
  for (int i = 0; i < count; ++i) data[i] = i * i - 5;
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = data.data();
  copy.srcPitch = width * 4;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = width * 4;
  copy.Height = height;
  DRIVER(cuMemcpy2D(&copy));
  copy.WidthInBytes = width * 4 + 4;
  verdict.expect(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE, "a row that is too long");

  CUdeviceptr out, linear;
  DRIVER(cuMemAlloc(&out, count * 4));
  DRIVER(cuMemAlloc(&linear, count * 4));
  unsigned flat = 0;
  void* arguments[] = {&out, &flat};
  auto run = [&](int odd, const char* what) {
    DRIVER(cuLaunchKernel(fetch, height, 1, 1, width, 1, 1, 0, nullptr, arguments, nullptr));
    DRIVER(cuMemcpyDtoH(got.data(), out, count * 4));
    bool right = true;
    for (int i = 0; i < count; ++i) right &= got[i] == (i % 2 == odd ? data[i] : -1);
    verdict.expect(right, what);
  };
  DRIVER(cuTexRefSetFlags(image, CU_TRSF_READ_AS_INTEGER));
  DRIVER(cuTexRefSetArray(image, array, CU_TRSA_OVERRIDE_FORMAT));
  run(0, "an array");
  for (int& v : data) v = -v;
  DRIVER(cuMemcpyHtoD(linear, data.data(), count * 4));
  CUDA_ARRAY_DESCRIPTOR flat_desc = {};
  flat_desc.Width = width, flat_desc.Height = height;
  flat_desc.Format = CU_AD_FORMAT_SIGNED_INT32, flat_desc.NumChannels = 1;
  DRIVER(cuTexRefSetAddress2D(image, &flat_desc, linear, width * 4));
  run(0, "pitched memory");
  DRIVER(cuTexRefSetFormat(image, CU_AD_FORMAT_SIGNED_INT32, 1));
  size_t offset = 1;
  DRIVER(cuTexRefSetAddress(&offset, image, linear, count * 4));
  verdict.expect(offset == 0, "an aligned address");
  flat = 1;
  run(1, "linear memory");

  DRIVER(cuSurfRefSetArray(plane, array, 0));
  void* store_arguments[] = {&out};
  DRIVER(cuLaunchKernel(store, height, 1, 1, width, 1, 1, 0, nullptr, store_arguments, nullptr));
  int types = 0;
  DRIVER(cuMemcpyDtoH(&types, out, 4));
  verdict.equal(types, 3, "istypep");
  CUDA_MEMCPY2D back = {};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  back.srcArray = array;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = got.data();
  back.dstPitch = width * 4;
  back.WidthInBytes = width * 4;
  back.Height = height;
  DRIVER(cuMemcpy2D(&back));
  bool right = true;
  for (int i = 0; i < count; ++i) right &= got[i] == i % width * 7 + i / width;
  verdict.expect(right, "a surface reference");

  // One row by the linear calls, array to array and back.
  CUarray row, other;
  CUDA_ARRAY_DESCRIPTOR row_desc = {};
  row_desc.Width = width;
  row_desc.Format = CU_AD_FORMAT_SIGNED_INT32, row_desc.NumChannels = 1;
  DRIVER(cuArrayCreate(&row, &row_desc));
  DRIVER(cuArrayCreate(&other, &row_desc));
  DRIVER(cuMemcpyHtoA(row, 0, data.data(), width * 4));
  DRIVER(cuMemcpyAtoA(other, 16, row, 8, 40));
  DRIVER(cuMemcpyAtoD(out, other, 16, 40));
  DRIVER(cuMemcpyDtoA(row, 0, out, 40));
  DRIVER(cuMemcpyAtoH(got.data(), row, 0, 40));
  right = true;
  for (int i = 0; i < 10; ++i) right &= got[i] == data[i + 2];
  verdict.expect(right, "linear copies of an array");
  CUDA_ARRAY_DESCRIPTOR read_back;
  DRIVER(cuArrayGetDescriptor(&read_back, row));
  verdict.expect(read_back.Width == size_t(width) && read_back.Height == 0, "cuArrayGetDescriptor");
  DRIVER(cuArrayDestroy(row));
  DRIVER(cuArrayDestroy(other));
  DRIVER(cuModuleUnload(module));
  return verdict.finish();
}
