// The compiler is known by the size and time stamp of its file, so that another build of it never
// meets code of this one. Thread rule: see the header.
#include "drivers/cpu/module/host_key.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <fstream>

#include <fmt/format.h>

namespace limen::cpu {

namespace {

/// The processor's identity and instruction sets, as Linux lists them.
std::string processor() {
  std::string found;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line) && !line.empty();)
    for (const char* key : {"vendor_id", "cpu family", "model", "stepping", "flags",  // x86-64
                            "Features", "CPU implementer", "CPU variant", "CPU part",  // AArch64
                            "CPU revision"})
      if (line.rfind(key, 0) == 0 && line.rfind("model name", 0) != 0) found += line + ";";
  return found;
}

std::string find_compiler() {
  Dl_info self{};
  dladdr(reinterpret_cast<const void*>(&compiler_path), &self);
  std::string path = self.dli_fname ? self.dli_fname : "";
  return path.substr(0, path.rfind('/') + 1) + "liblimen_jit.so";
}

}  // namespace

const std::string& compiler_path() {
  static const auto* path = new std::string(find_compiler());
  return *path;
}

const std::string& host_key() {
  static const auto* key = [] {
    struct stat file{};
    stat(compiler_path().c_str(), &file);
    return new std::string(fmt::format("{}|{}|{}.{}", processor(), file.st_size,
                                       file.st_mtim.tv_sec, file.st_mtim.tv_nsec));
  }();
  return *key;
}

}  // namespace limen::cpu
