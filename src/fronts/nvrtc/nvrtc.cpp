// The part of NVRTC's interface that differs on the CPU device: who asks for machine code gets PTX,
// in the place of the machine code. Everything else is generated and forwarded.
// Invariant: a program that asks for PTX sees NVRTC as it is. Thread rule: any thread; one lock
// around the table of programs, never held while NVRTC works.
// Design: docs/design/runtime_compilation.md
#include <mutex>
#include <unordered_set>

#include "base/log.h"
#include "compiler/fatbin/ptx_version.h"
#include "compiler/ptx/parser.h"
#include "fronts/nvrtc/exports.h"
#include "fronts/nvrtc/options.h"
#include "fronts/real_library.h"

namespace limen::fronts::nvrtc {

namespace {

/// Programs whose machine code is PTX. Never destroyed: programs compile in exit handlers too.
struct Programs {
  std::mutex mutex;
  std::unordered_set<nvrtcProgram> as_ptx;
};

Programs& programs() {
  static auto* all = new Programs;
  return *all;
}

bool is_as_ptx(nvrtcProgram program) {
  std::lock_guard lock(programs().mutex);
  return programs().as_ptx.count(program) != 0;
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(real_function(name));
}

nvrtcResult get_size(const char* name, nvrtcProgram program, size_t* size) {
  auto* get = real<nvrtcResult(nvrtcProgram, size_t*)>(name);
  return get ? get(program, size) : nvrtc_internal_error;
}

nvrtcResult get_bytes(const char* name, nvrtcProgram program, char* bytes) {
  auto* get = real<nvrtcResult(nvrtcProgram, char*)>(name);
  return get ? get(program, bytes) : nvrtc_internal_error;
}

}  // namespace

const char* nvrtcGetErrorString(nvrtcResult result) {
  if (!has_real_library()) {
    static const auto* text =
        new std::string("NVRTC_ERROR_INTERNAL_ERROR: " + missing_text());
    return text->c_str();
  }
  auto* get = real<const char*(nvrtcResult)>("nvrtcGetErrorString");
  return get ? get(result) : "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char* const* options) {
  auto* compile = real<nvrtcResult(nvrtcProgram, int, const char* const*)>("nvrtcCompileProgram");
  if (!compile) return nvrtc_internal_error;
  const Options asked = ask_for_ptx(numOptions, options);
  if (!asked.machine_code) return compile(prog, numOptions, options);
  {
    std::lock_guard lock(programs().mutex);
    programs().as_ptx.insert(prog);
  }
  std::vector<const char*> words;
  for (const std::string& word : asked.words) words.push_back(word.c_str());
  return compile(prog, static_cast<int>(words.size()), words.data());
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* prog) {
  auto* destroy = real<nvrtcResult(nvrtcProgram*)>("nvrtcDestroyProgram");
  if (!destroy) return nvrtc_internal_error;
  if (prog) {
    std::lock_guard lock(programs().mutex);
    programs().as_ptx.erase(*prog);
  }
  return destroy(prog);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t* cubinSizeRet) {
  return get_size(is_as_ptx(prog) ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize", prog, cubinSizeRet);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char* cubin) {
  if (!is_as_ptx(prog)) return get_bytes("nvrtcGetCUBIN", prog, cubin);
  size_t size = 0;
  if (nvrtcResult result = get_size("nvrtcGetPTXSize", prog, &size)) return result;
  if (nvrtcResult result = get_bytes("nvrtcGetPTX", prog, cubin)) return result;
  // Machine code runs on a driver of the same major version whatever toolkit made it; so must this.
  if (cubin && fatbin::lower_ptx_version(cubin, size, ptx::newest_major, ptx::newest_minor))
    log::info("PTX of a newer version from NVRTC is taken for PTX %u.%u", ptx::newest_major,
              ptx::newest_minor);
  return nvrtc_success;
}

}  // namespace limen::fronts::nvrtc
