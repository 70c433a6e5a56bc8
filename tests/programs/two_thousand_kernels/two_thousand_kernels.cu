// A module with 2,000 kernels: loading it compiles none of them, using one compiles that one. On
// Limen the proof is its cache of machine code, which is empty after the load and has one entry
// after one launch, and that the compiler's library is not even in the process before. Prints the
// time of a load from PTX text (which is checked as a whole) and from a fat binary (which is read
// on demand).
#include <cuda.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <string>

#include "check.h"

#define DRIVER(call)                                        \
  do {                                                      \
    CUresult r_ = (call);                                   \
    if (r_ != CUDA_SUCCESS) {                               \
      std::printf("%s: code %d\nFAILED\n", #call, int(r_)); \
      std::exit(1);                                         \
    }                                                       \
  } while (0)

constexpr int kernels = 2000;

/// Kernel k adds 1 to out[0..n) as often as n says and then k; a shared array, a loop and a
/// barrier.
static std::string kernel_text(int k) {
  const std::string name = "kernel" + std::to_string(k), label = "$L" + std::to_string(k);
  return ".visible .entry " + name + "(.param .u64 " + name + "_p0, .param .u32 " + name +
         "_p1)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<6>;\n"
         ".shared .align 4 .b8 " +
         name +
         "_s[512];\n"
         "ld.param.u64 %rd1, [" +
         name + "_p0];\nld.param.u32 %r1, [" + name +
         "_p1];\n"
         "cvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r2, %tid.x;\nmul.wide.u32 %rd3, %r2, 4;\n"
         "add.s64 %rd4, %rd2, %rd3;\nshl.b32 %r3, %r2, 2;\nmov.u32 %r4, " +
         name +
         "_s;\n"
         "add.s32 %r5, %r4, %r3;\nst.shared.u32 [%r5], %r2;\nbar.sync 0;\nmov.u32 %r6, 0;\n"
         "mov.u32 %r7, 0;\n" +
         label +
         "_1:\nadd.s32 %r6, %r6, 1;\nadd.s32 %r7, %r7, 1;\n"
         "setp.lt.u32 %p1, %r7, %r1;\n@%p1 bra " +
         label +
         "_1;\nld.shared.u32 %r8, [%r5];\n"
         "add.s32 %r9, %r6, %r8;\nadd.s32 %r10, %r9, " +
         std::to_string(k) +
         ";\n"
         "st.global.u32 [%rd4], %r10;\nret;\n}\n";
}

/// The text in the container that nvcc embeds: a header, and one uncompressed PTX entry with an
/// empty list of options behind its fixed fields (NVIDIA's driver reads that without asking).
static std::string fatbin_of(const std::string& text) {
  std::string payload = text;
  payload.resize((payload.size() + 8) / 8 * 8);
  std::string out(16 + 80, '\0');
  auto put = [&](size_t at, auto value) { std::memcpy(&out[at], &value, sizeof value); };
  put(0, uint32_t{0xba55ed50});
  put(4, uint16_t{1});
  put(6, uint16_t{16});
  put(8, uint64_t{80 + payload.size()});
  put(16, uint16_t{1});
  put(18, uint16_t{0x0101});
  put(20, uint32_t{80});
  put(24, uint64_t{payload.size()});
  put(36, uint32_t{64});
  put(42, uint16_t{7});
  put(44, uint32_t{75});
  put(56, uint64_t{0x11});
  put(80, uint32_t{72});
  return out + payload;
}

/// Files in the folder and below it.
static int count_files(const std::string& folder) {
  DIR* dir = opendir(folder.c_str());
  if (!dir) return 0;
  int count = 0;
  while (dirent* entry = readdir(dir)) {
    const std::string name = entry->d_name, path = folder + "/" + name;
    struct stat info;
    if (name == "." || name == ".." || stat(path.c_str(), &info)) continue;
    count += S_ISDIR(info.st_mode) ? count_files(path) : name.size() > 16;
  }
  closedir(dir);
  return count;
}

static bool is_mapped(const char* library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos) return true;
  return false;
}

static double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

static CUmodule load(const std::string& image, const char* what, size_t text_bytes) {
  CUmodule module;
  const auto start = std::chrono::steady_clock::now();
  DRIVER(cuModuleLoadData(&module, image.data()));
  const double ms = milliseconds_since(start);
  std::printf("%d kernels from %s: %.1f ms, %.0f MB/s\n", kernels, what, ms, text_bytes / 1e3 / ms);
  return module;
}

static void use(Verdict& verdict, CUmodule module, int k, CUdeviceptr out) {
  CUfunction function;
  DRIVER(cuModuleGetFunction(&function, module, ("kernel" + std::to_string(k)).c_str()));
  unsigned rounds = 10;
  void* arguments[] = {&out, &rounds};
  DRIVER(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  unsigned got[128];
  DRIVER(cuMemcpyDtoH(got, out, sizeof got));
  for (int i = 0; i < 128; ++i) verdict.equal<unsigned>(got[i], 10 + i + k, "result", i);
}

int main() {
  Verdict verdict;
  char folder[] = "/tmp/two_thousand_kernels.XXXXXX";
  verdict.expect(mkdtemp(folder) != nullptr, "a folder for the cache");
  setenv("LIMEN_CACHE_DIR", folder, 1);
  DRIVER(cuInit(0));
  CUdevice device;
  CUcontext context;
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuDevicePrimaryCtxRetain(&context, device));
  DRIVER(cuCtxSetCurrent(context));
  CUdeviceptr out;
  DRIVER(cuMemAlloc(&out, 4 * 128));
  std::string text = ".version 7.0\n.target sm_75\n.address_size 64\n";
  for (int k = 0; k < kernels; ++k) text += kernel_text(k);
  const std::string fatbin = fatbin_of(text);
  const bool limen = is_mapped("liblimen_cpu");
  CUmodule from_text = load(text, "PTX text", text.size());
  CUmodule from_fatbin = load(fatbin, "a fat binary", text.size());
  unsigned count = 0;
  DRIVER(cuModuleGetFunctionCount(&count, from_text));
  verdict.equal<unsigned>(count, kernels, "functions of the module");
  if (limen) {
    verdict.expect(!is_mapped("liblimen_jit"), "loading does not open the compiler");
    verdict.equal(count_files(folder), 0, "kernels compiled by loading");
  }
  use(verdict, from_text, 1234, out);
  if (limen) {
    verdict.expect(is_mapped("liblimen_jit"), "a launch opens the compiler");
    verdict.equal(count_files(folder), 1, "kernels compiled by one launch");
  }
  use(verdict, from_fatbin, 77, out);
  if (limen) verdict.equal(count_files(folder), 2, "kernels compiled by two launches");
  DRIVER(cuModuleUnload(from_text));
  DRIVER(cuModuleUnload(from_fatbin));
  std::system(("rm -rf " + std::string(folder)).c_str());
  return verdict.finish();
}
