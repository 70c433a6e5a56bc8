// 1,000 modules made from PTX text, each loaded, used and unloaded: no growth of device memory, and
// little of the process.
#include <cuda.h>

#include <string>
#include <vector>

#include "check.h"

static long resident_kib() {
  std::FILE* f = std::fopen("/proc/self/statm", "r");
  long pages = 0, resident = 0;
  if (f && std::fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
  if (f) std::fclose(f);
  return resident * 4;
}

#define DRIVER(call)                                        \
  do {                                                      \
    CUresult r_ = (call);                                   \
    if (r_ != CUDA_SUCCESS) {                               \
      std::printf("%s: code %d\nFAILED\n", #call, int(r_)); \
      std::exit(1);                                         \
    }                                                       \
  } while (0)

int main(int argc, char** argv) {
  Verdict verdict;
  const int modules = argc > 1 ? std::atoi(argv[1]) : 1000;
  DRIVER(cuInit(0));
  CUdevice device;
  CUcontext context;
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuDevicePrimaryCtxRetain(&context, device));
  DRIVER(cuCtxSetCurrent(context));
  CUdeviceptr out;
  DRIVER(cuMemAlloc(&out, 4));
  size_t free_start = 0, free_end = 0, total;
  long rss_start = 0;
  for (int k = 0; k < modules; ++k) {
    // Every tenth text is new, the others repeat.
    int variant = k % 10 ? k % 7 : 1000 + k;
    std::string ptx =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".global .align 4 .u32 data[4096];\n"
        ".visible .entry kernel(.param .u64 out, .param .u32 v) {\n"
        ".reg .b64 %rd<3>;\n.reg .b32 %r<4>;\n"
        "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\nld.param.u32 %r1, [v];\n"
        "add.u32 %r2, %r1, " +
        std::to_string(variant) +
        ";\n"
        "ld.global.u32 %r3, [data+16];\nadd.u32 %r2, %r2, %r3;\n"
        "st.global.u32 [data+16], %r2;\nst.global.u32 [%rd2], %r2;\nret;\n}\n";
    CUmodule module;
    CUfunction function;
    DRIVER(cuModuleLoadData(&module, ptx.c_str()));
    DRIVER(cuModuleGetFunction(&function, module, "kernel"));
    int v = k;
    void* arguments[] = {&out, &v};
    DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    int got = 0;
    DRIVER(cuMemcpyDtoH(&got, out, 4));
    verdict.equal(got, k + variant, "a fresh module", k);
    DRIVER(cuModuleUnload(module));
    if (k == modules / 10) {
      DRIVER(cuMemGetInfo(&free_start, &total));
      rss_start = resident_kib();
    }
  }
  DRIVER(cuMemGetInfo(&free_end, &total));
  long growth = resident_kib() - rss_start;
  std::printf("device memory %+lld bytes, process %+ld KiB\n",
              static_cast<long long>(free_start) - static_cast<long long>(free_end), growth);
  verdict.expect(free_end + (4 << 20) >= free_start, "device memory stays");
  verdict.expect(growth < 96 << 10, "the process stays below 96 MiB of growth", growth);
  return verdict.finish();
}
