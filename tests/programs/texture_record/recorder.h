// What texture_record.cu is built on: kernels as PTX text, one module each; sections in processes of
// their own; lines of results. For that one file: everything here is static.
#pragma once
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "check.h"

struct Sample {
  float x = 0, y = 0, z = 0, w = 0;
  int i = 0, j = 0, k = 0, l = 0;
};

/// An instruction's text, and what the driver made of it in the present context.
struct Kernel {
  const char* name;
  const char* text;
  CUfunction function = nullptr;
  CUresult code = CUDA_SUCCESS;
  bool loaded = false;
};

// Operands: %0-%3 result, %4 handle, %5-%8 floats x y z w, %9-%12 integers i j k l.
#define KERNEL(name, text) static Kernel name = {#name, text};
#define R "{%0, %1, %2, %3}"

KERNEL(tex_1d, "tex.1d.v4.f32.f32 " R ", [%4, {%5}];")
KERNEL(tex_2d, "tex.2d.v4.f32.f32 " R ", [%4, {%5, %6}];")
KERNEL(tex_3d, "tex.3d.v4.f32.f32 " R ", [%4, {%5, %6, %7, %7}];")
KERNEL(tex_2d_u32, "tex.2d.v4.u32.f32 " R ", [%4, {%5, %6}];")
KERNEL(tex_1d_s32, "tex.1d.v4.f32.s32 " R ", [%4, {%9}];")
KERNEL(tex_2d_s32, "tex.2d.v4.f32.s32 " R ", [%4, {%9, %10}];")
KERNEL(tex_3d_s32, "tex.3d.v4.f32.s32 " R ", [%4, {%9, %10, %11, %11}];")
KERNEL(tex_a1d, "tex.a1d.v4.f32.f32 " R ", [%4, {%9, %5}];")
KERNEL(tex_a2d, "tex.a2d.v4.f32.f32 " R ", [%4, {%9, %5, %6, %6}];")
KERNEL(tex_cube, "tex.cube.v4.f32.f32 " R ", [%4, {%5, %6, %7, %7}];")
KERNEL(tex_acube, "tex.acube.v4.f32.f32 " R ", [%4, {%9, %5, %6, %7}];")
KERNEL(tex_level_2d, "tex.level.2d.v4.f32.f32 " R ", [%4, {%5, %6}], %7;")
KERNEL(tex_level_s32, "tex.level.2d.v4.f32.s32 " R ", [%4, {%9, %10}], %11;")
KERNEL(tex_base_2d, "tex.base.2d.v4.f32.f32 " R ", [%4, {%5, %6}];")
KERNEL(tex_grad_2d, "tex.grad.2d.v4.f32.f32 " R ", [%4, {%5, %6}], {%7, 0f00000000}, {0f00000000, %8};")
KERNEL(tex_offset, "tex.2d.v4.f32.f32 " R ", [%4, {%5, %6}], {%9, %10};")
KERNEL(tld4_r, "tld4.r.2d.v4.f32.f32 " R ", [%4, {%5, %6}];")
KERNEL(tld4_a, "tld4.a.2d.v4.f32.f32 " R ", [%4, {%5, %6}];")
KERNEL(tld4_offset, "tld4.r.2d.v4.f32.f32 " R ", [%4, {%5, %6}], {%9, %10};")
KERNEL(tld4_cube, "tld4.r.cube.v4.f32.f32 " R ", [%4, {%5, %6, %7, %7}];")
KERNEL(tex_pairs, "{.reg .b32 a, b; tex.2d.v2.f16x2.f32 {a, b}, [%4, {%5, %6}]; mov.b32 %0, a; mov.b32 %1, b;}")
KERNEL(tex_halves,
       "{.reg .b16 a, b, c, d; tex.2d.v4.f16.f32 {a, b, c, d}, [%4, {%5, %6}];"
       "mov.b32 %0, {a, b}; mov.b32 %1, {c, d};}")
KERNEL(txq_sizes, "txq.width.b32 %0, [%4]; txq.height.b32 %1, [%4]; txq.depth.b32 %2, [%4];")
KERNEL(txq_array_size, "txq.array_size.b32 %0, [%4];")
KERNEL(txq_levels, "txq.num_mipmap_levels.b32 %0, [%4];")
KERNEL(txq_samples, "txq.num_samples.b32 %0, [%4];")
KERNEL(txq_normalized, "txq.normalized_coords.b32 %0, [%4];")
KERNEL(txq_level, "txq.level.width.b32 %0, [%4], %9; txq.level.height.b32 %1, [%4], %9;")
KERNEL(suq_sizes, "suq.width.b32 %0, [%4]; suq.height.b32 %1, [%4]; suq.depth.b32 %2, [%4];")
KERNEL(suq_array_size, "suq.array_size.b32 %0, [%4];")
KERNEL(is_types,
       "{.reg .pred p; istypep.texref p, %4; selp.b32 %0, 1, 0, p; istypep.samplerref p, %4;"
       "selp.b32 %1, 1, 0, p; istypep.surfref p, %4; selp.b32 %2, 1, 0, p;}")
KERNEL(suld_clamp, "suld.b.2d.v2.b32.clamp {%0, %1}, [%4, {%9, %10}];")
KERNEL(suld_zero, "suld.b.2d.v2.b32.zero {%0, %1}, [%4, {%9, %10}];")
KERNEL(sust_p, "sust.p.2d.v4.b32.zero [%4, {%9, %10}], {%11, %12, %11, %12};")
KERNEL(suld_trap, "suld.b.2d.b32.trap %0, [%4, {%9, %10}];")
KERNEL(sust_trap, "sust.b.2d.b32.trap [%4, {%9, %10}], %9;")
#ifdef QUERIES
KERNEL(txq_type, "txq.channel_data_type.b32 %0, [%4];")
KERNEL(txq_order, "txq.channel_order.b32 %0, [%4];")
KERNEL(txq_filter, "txq.filter_mode.b32 %0, [%4];")
KERNEL(txq_address, "txq.addr_mode_0.b32 %0, [%4];")
#endif

static std::vector<std::string> lines;
static unsigned checksum = 0;
static Verdict verdict;
static long checked = 0;  // results compared with the host's

static const char* output = nullptr;

static void note(const std::string& section, long long value) {
  lines.push_back(section + " 0 | | " + std::to_string(value));
}

static void write_lines() {
  if (!output) return;
  std::ofstream file(output);
  for (const std::string& line : lines) file << line << "\n";
}

// -- kernels --------------------------------------------------------------------------------------

static void* entry(const char* name) {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &found));
  return f;
}

/// The entry `k` around one instruction: a thread a sample.
static std::string ptx_of(const Kernel& kernel) {
  std::string body;
  for (const char* c = kernel.text; *c; ++c) {
    if (*c == '%') body += "op";
    else body += *c;
  }
  return ".version 8.0\n.target sm_75\n.address_size 64\n"
         ".visible .entry k(.param .b64 handle, .param .b64 in, .param .b64 out, .param .b32 count) {\n"
         ".reg .b32 op0, op1, op2, op3, op9, op10, op11, op12, thread, block, size, limit;\n"
         ".reg .f32 op5, op6, op7, op8;\n.reg .b64 op4, from, to;\n.reg .pred past;\n"
         "mov.u32 thread, %tid.x; mov.u32 block, %ctaid.x; mov.u32 size, %ntid.x;\n"
         "mad.lo.u32 thread, block, size, thread; ld.param.u32 limit, [count];\n"
         "setp.ge.u32 past, thread, limit;\n@past ret;\n"
         "ld.param.u64 op4, [handle]; ld.param.u64 from, [in]; ld.param.u64 to, [out];\n"
         "cvta.to.global.u64 from, from; cvta.to.global.u64 to, to;\n"
         "mad.wide.u32 from, thread, 32, from; mad.wide.u32 to, thread, 16, to;\n"
         "ld.global.v4.f32 {op5, op6, op7, op8}, [from];\n"
         "ld.global.v4.u32 {op9, op10, op11, op12}, [from+16];\n"
         "mov.u32 op0, 0; mov.u32 op1, 0; mov.u32 op2, 0; mov.u32 op3, 0;\n" +
         body + "\nst.global.v4.u32 [to], {op0, op1, op2, op3};\nret;\n}\n";
}

/// Whether the driver takes the kernel; when it does not, its reason is noted once.
static bool load(Kernel& kernel) {
  if (kernel.loaded) return kernel.code == CUDA_SUCCESS;
  using Load = CUresult (*)(CUmodule*, const void*, unsigned, CUjit_option*, void**);
  using Find = CUresult (*)(CUfunction*, CUmodule, const char*);
  static const auto load_data = reinterpret_cast<Load>(entry("cuModuleLoadDataEx"));
  static const auto find = reinterpret_cast<Find>(entry("cuModuleGetFunction"));
  CHECK(cudaFree(nullptr));  // makes the context
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module;
  kernel.code = load_data(&module, ptx_of(kernel).c_str(), 2, options, values);
  if (!kernel.code) kernel.code = find(&kernel.function, module, "k");
  kernel.loaded = true;
  if (!kernel.code) return true;
  note(std::string("kernel.") + kernel.name + ".error", kernel.code);
  std::printf("kernel %s: not loaded, error %d\n%s\n", kernel.name, int(kernel.code), log);
  verdict.expect(false, "a kernel is not loaded");
  return false;
}

static CUresult launch(const Kernel& kernel, unsigned blocks, unsigned threads,
                       unsigned long long handle, const Sample* in, uint4* out, int count) {
  using Launch = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, CUstream, void**, void**);
  static const auto start = reinterpret_cast<Launch>(entry("cuLaunchKernel"));
  void* arguments[] = {&handle, &in, &out, &count};
  return start(kernel.function, blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr);
}

/// What a section's process hands back at its end, also when a CHECK ends it.
static FILE* handed_back = nullptr;

static void hand_back() {
  for (const std::string& line : lines) std::fprintf(handed_back, "%s\n", line.c_str());
  std::fprintf(handed_back, "end %ld %u %d\n", checked, checksum, verdict.failures);
  std::fflush(handed_back);
}

/// Runs a section in a process of its own: a fault leaves no context to go on with. No CUDA call
/// is made in this one.
template <typename Record>
static void section(const char* name, Record record) {
  write_lines();
  std::fflush(stdout);
  FILE* file = std::tmpfile();
  const pid_t child = file ? fork() : -1;
  if (child < 0) {
    std::printf("%s: no process\nFAILED\n", name);
    std::exit(1);
  }
  if (child == 0) {
    handed_back = file;
    lines.clear(), checked = 0, checksum = 0, verdict.failures = 0;
    std::atexit(hand_back);
    record();
    std::exit(0);
  }
  int status = 0;
  const bool ended = waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
  std::rewind(file);
  bool whole = false;
  char text[512];
  while (std::fgets(text, sizeof text, file)) {
    text[std::strcspn(text, "\n")] = 0;
    long more;
    unsigned sum;
    int failures;
    whole = std::sscanf(text, "end %ld %u %d", &more, &sum, &failures) == 3;
    if (!whole) {
      lines.push_back(text);
      continue;
    }
    checked += more, checksum = checksum * 31 + sum, verdict.failures += failures;
  }
  std::fclose(file);
  if (!ended || !whole) {
    std::printf("section %s: status %x\n", name, unsigned(status));
    verdict.expect(false, "a section ends early");
  }
}

/// What the first result word must be; nothing where only a GPU can tell.
using Expect = std::function<std::optional<unsigned>(const Sample&)>;

static void run(const std::string& section, Kernel& kernel, unsigned long long handle,
                const std::vector<Sample>& samples, const Expect& expect = nullptr) {
  if (!handle) return;  // its creation was recorded as an error
  if (!load(kernel)) return;
  const int n = int(samples.size());
  Sample* in;
  uint4* out;
  std::vector<uint4> got(n);
  CHECK(cudaMalloc(&in, n * sizeof(Sample)));
  CHECK(cudaMalloc(&out, n * sizeof(uint4)));
  CHECK(cudaMemset(out, 0xee, n * sizeof(uint4)));
  CHECK(cudaMemcpy(in, samples.data(), n * sizeof(Sample), cudaMemcpyHostToDevice));
  const CUresult started = launch(kernel, (n + 127) / 128, 128, handle, in, out, n);
  const cudaError_t ended = cudaDeviceSynchronize();
  if (started != CUDA_SUCCESS || ended != cudaSuccess) {
    if (started) note(section + ".launch", started);
    if (ended) note(section + ".error", ended);
    std::printf("%s: launch %d, then %s\n", section.c_str(), int(started), cudaGetErrorName(ended));
    verdict.expect(false, "a kernel fails");
    if (ended) std::exit(1);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return;
  }
  CHECK(cudaMemcpy(got.data(), out, n * sizeof(uint4), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    const Sample& s = samples[i];
    char text[320];
    std::snprintf(text, sizeof text, "%s %d | %.9g %.9g %.9g %.9g %d %d %d %d | %08x %08x %08x %08x",
                  section.c_str(), i, s.x, s.y, s.z, s.w, s.i, s.j, s.k, s.l, got[i].x, got[i].y,
                  got[i].z, got[i].w);
    lines.push_back(text);
    checksum = checksum * 31 + (got[i].x ^ got[i].y ^ got[i].z ^ got[i].w);
    const unsigned unwritten = 0xeeeeeeeeu;
    const bool written = got[i].x != unwritten || got[i].y != unwritten || got[i].z != unwritten ||
                         got[i].w != unwritten;
    verdict.expect(written, (section + ": nothing written").c_str(), i);
    const std::optional<unsigned> want = expect ? expect(s) : std::nullopt;
    if (!want) continue;
    ++checked;
    verdict.equal(got[i].x, *want, (section + ": first word").c_str(), i);
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}

static unsigned bits_of(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
