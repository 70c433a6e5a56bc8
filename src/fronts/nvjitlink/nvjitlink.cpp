// nvJitLink's interface over Link, and NVIDIA's library behind it for link time optimisation.
// Invariant: a handle is the address of a LinkState that the caller owns until Destroy, as in
// NVIDIA's library; it is not checked, as there. Thread rule: one thread a handle.
// Design: docs/design/runtime_compilation.md
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "fronts/nvjitlink/exports.h"
#include "fronts/nvjitlink/link.h"
#include "fronts/real_library.h"

namespace limen::fronts::nvjitlink {

namespace {

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(real_function(name));
}

/// A link inside NVIDIA's library that makes PTX.
class RealOptimizer final : public Optimizer {
 public:
  static std::unique_ptr<RealOptimizer> create(const Options& options, int& code) {
    auto* make = real<int(nvJitLinkHandle*, uint32_t, const char* const*)>("nvJitLinkCreate");
    if (!make) {
      code = internal;
      return nullptr;
    }
    std::vector<const char*> words;
    for (const std::string& word : options.words) words.push_back(word.c_str());
    if (!options.ptx) words.push_back("-ptx");
    auto out = std::make_unique<RealOptimizer>();
    code = make(&out->handle_, static_cast<uint32_t>(words.size()), words.data());
    return code ? nullptr : std::move(out);
  }

  ~RealOptimizer() override {
    if (auto* destroy = real<int(nvJitLinkHandle*)>("nvJitLinkDestroy"); destroy && handle_)
      destroy(&handle_);
  }

  int add(int type, const void* data, size_t size, const char* name) override {
    auto* call = real<int(nvJitLinkHandle, int, const void*, size_t, const char*)>(
        "nvJitLinkAddData");
    return call ? call(handle_, type, data, size, name) : internal;
  }

  int complete(std::string& text) override {
    auto* call = real<int(nvJitLinkHandle)>("nvJitLinkComplete");
    if (!call) return internal;
    if (int code = call(handle_)) return code;
    return read("nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx", text);
  }

  std::string error_log() override {
    std::string text;
    read("nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog", text);
    return text;
  }

 private:
  int read(const char* size_name, const char* text_name, std::string& text) {
    auto* get_size = real<int(nvJitLinkHandle, size_t*)>(size_name);
    auto* get_text = real<int(nvJitLinkHandle, char*)>(text_name);
    size_t size = 0;
    if (!get_size || !get_text) return internal;
    if (int code = get_size(handle_, &size)) return code;
    text.resize(size + 1);
    if (int code = get_text(handle_, text.data())) return code;
    text.resize(std::strlen(text.c_str()));
    return success;
  }

  nvJitLinkHandle handle_ = nullptr;
};

struct LinkState {
  std::unique_ptr<RealOptimizer> optimizer;
  std::unique_ptr<Link> link;
};

Link& link_of(nvJitLinkHandle handle) { return *reinterpret_cast<LinkState*>(handle)->link; }

int give_size(size_t* to, const std::string& text) {
  if (!to) return null_input;
  *to = text.size();
  return success;
}

/// Logs end in a NUL that their size does not count (measured on 13.0).
int give_text(char* to, const std::string& text) {
  if (!to) return null_input;
  std::memcpy(to, text.c_str(), text.size());
  return success;
}

}  // namespace

nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle* handle, uint32_t numOptions,
                                const char* const* options) {
  if (!handle) return null_input;
  *handle = nullptr;
  Options read;
  if (int code = read_options(numOptions, options, read)) return code;
  auto state = std::make_unique<LinkState>();
  std::string why;
  if (read.lto && has_real_library()) {
    int code = success;
    state->optimizer = RealOptimizer::create(read, code);
    if (code) return code;
  } else if (read.lto) {
    why = missing_text();
  }
  state->link = std::make_unique<Link>(std::move(read), state->optimizer.get(), std::move(why));
  *handle = reinterpret_cast<nvJitLinkHandle>(state.release());
  return success;
}

nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle* handle) {
  if (!handle || !*handle) return invalid_input;
  delete reinterpret_cast<LinkState*>(*handle);
  *handle = nullptr;
  return success;
}

nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType inputType,
                                 const void* data, size_t size, const char* name) {
  return handle ? link_of(handle).add(inputType, data, size, name) : invalid_input;
}

nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType inputType,
                                 const char* fileName) {
  if (!handle || !fileName) return invalid_input;
  std::ifstream file(fileName, std::ios::binary);
  std::ostringstream bytes;
  if (!file || !(bytes << file.rdbuf())) return invalid_input;
  const std::string data = bytes.str();
  return link_of(handle).add(inputType, data.data(), data.size(), fileName);
}

nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle) {
  return handle ? link_of(handle).complete() : invalid_input;
}

nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t* size) {
  if (!handle) return invalid_input;
  return link_of(handle).image().empty() ? internal : give_size(size, link_of(handle).image());
}

nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* cubin) {
  if (!handle) return invalid_input;
  if (link_of(handle).image().empty()) return internal;
  return give_text(static_cast<char*>(cubin), link_of(handle).image());
}

nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t* size) {
  if (!handle || !link_of(handle).options().ptx) return invalid_input;
  if (link_of(handle).linked_ptx().empty()) return internal;
  return give_size(size, link_of(handle).linked_ptx());
}

nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char* ptx) {
  if (!handle || !link_of(handle).options().ptx) return invalid_input;
  if (link_of(handle).linked_ptx().empty()) return internal;
  return give_text(ptx, link_of(handle).linked_ptx());
}

nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t* size) {
  return handle ? give_size(size, link_of(handle).error_log()) : invalid_input;
}

nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* log) {
  return handle ? give_text(log, link_of(handle).error_log()) : invalid_input;
}

nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t* size) {
  return handle ? give_size(size, link_of(handle).info_log()) : invalid_input;
}

nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char* log) {
  return handle ? give_text(log, link_of(handle).info_log()) : invalid_input;
}

nvJitLinkResult nvJitLinkVersion(unsigned int* major, unsigned int* minor) {
  if (!major || !minor) return invalid_input;
  // NVIDIA's own answer where it is there: programs choose LTO-IR's version by it.
  if (has_real_library())
    if (auto* version = real<int(unsigned*, unsigned*)>("nvJitLinkVersion"))
      return version(major, minor);
  *major = static_cast<unsigned>(identity.major);
  *minor = 0;
  return success;
}

}  // namespace limen::fronts::nvjitlink
