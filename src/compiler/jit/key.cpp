// The compiler's part of the disk cache key, known without loading LLVM: processor features and which
// liblimen_jit.so would do the work.
#include <dlfcn.h>
#include <sys/stat.h>

#include <string>

#include "compiler/jit/compile.h"

namespace limen::jit {

const char* const compiler_version = "1";

namespace {

std::string features() {
  __builtin_cpu_init();
  std::string s;
#define LIMEN_FEATURE(name) \
  if (__builtin_cpu_supports(name)) s += std::string(name) + ","
  LIMEN_FEATURE("sse4.1");
  LIMEN_FEATURE("sse4.2");
  LIMEN_FEATURE("popcnt");
  LIMEN_FEATURE("avx");
  LIMEN_FEATURE("avx2");
  LIMEN_FEATURE("fma");
  LIMEN_FEATURE("bmi");
  LIMEN_FEATURE("bmi2");
  LIMEN_FEATURE("avx512f");
  LIMEN_FEATURE("avx512bw");
  LIMEN_FEATURE("avx512dq");
  LIMEN_FEATURE("avx512vl");
  LIMEN_FEATURE("avx512vnni");
  LIMEN_FEATURE("avx512bf16");
#undef LIMEN_FEATURE
  return s;
}

/// Size and time of the compiler library beside us: another build makes other keys.
std::string library_stamp() {
  Dl_info info{};
  static const char anchor = 0;
  if (!dladdr(&anchor, &info) || !info.dli_fname) return "none";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  path = (slash == std::string::npos ? std::string() : path.substr(0, slash + 1)) + "liblimen_jit.so";
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return "none";
  return std::to_string(st.st_size) + "." + std::to_string(st.st_mtim.tv_sec) + "." + std::to_string(st.st_mtim.tv_nsec);
}

}  // namespace

std::string host_cpu_key() { return features() + library_stamp(); }

}  // namespace limen::jit
