// cuLink*: collects PTX (text or in fat binaries), links it on Complete and hands out one image.
// The image is Limen's own container of the PTX, not a cubin: it loads with cuModuleLoadData of
// this driver only. Invariant: the image lives until cuLinkDestroy. Thread rule: one thread a link
// state.
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "compiler/fatbin/archive.h"
#include "compiler/fatbin/linked.h"
#include "compiler/ptx/parser.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/module/load.h"
#include "drivers/cpu/module/module.h"

namespace limen::cpu {

namespace {

CUresult resolve_link(CUlinkState handle, LinkState** link) {
  *link = driver().links.resolve(handle);
  return *link ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

const char* name_of(CUjitInputType type) {
  switch (type) {
    case CU_JIT_INPUT_CUBIN:
      return "machine code (cubin)";
    case CU_JIT_INPUT_OBJECT:
      return "host objects";
    case CU_JIT_INPUT_LIBRARY:
      return "host libraries";
    case CU_JIT_INPUT_NVVM:
      return "NVVM IR";
    default:
      return "inputs of unknown kind";
  }
}

CUresult add(LinkState& link, CUjitInputType type, const void* data, size_t bytes,
             const char* name) {
  if (type == CU_JIT_INPUT_PTX) {
    auto image = fatbin::parse_memory(data, bytes);
    if (!image.ok()) return report_to_log(image.error(), link.log);
    if (image->form() != fatbin::Form::ptx_text) return CUDA_ERROR_INVALID_IMAGE;
    std::string text(static_cast<const char*>(data), bytes);
    text.resize(std::strlen(text.c_str()));
    auto parsed = ptx::parse_module(text);
    if (!parsed.ok()) {
      Error error = parsed.error();
      error.what = fmt::format("{}: {}", name ? name : "<unnamed>", error.what);
      return report_to_log(error, link.log);
    }
    link.texts.push_back(std::move(text));
    return CUDA_SUCCESS;
  }
  if (type == CU_JIT_INPUT_FATBINARY) {
    auto chosen = choose_ptx(data, link.context->device, false);
    if (!chosen.ok()) return report_to_log(chosen.error(), link.log);
    for (std::string& text : chosen->texts) link.texts.push_back(std::move(text));
    return CUDA_SUCCESS;
  }
  if (type == CU_JIT_INPUT_LIBRARY &&
      fatbin::is_device_runtime({static_cast<const char*>(data), bytes}))
    return CUDA_SUCCESS;
  return report_to_log({Code::not_supported,
                        fmt::format("{}: linking of {} is not built; give PTX",
                                    name ? name : "<unnamed>", name_of(type)),
                        ""},
                       link.log);
}

}  // namespace

CUresult cuLinkCreate(unsigned int numOptions, CUjit_option* options, void** optionValues,
                      CUlinkState* stateOut) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!stateOut) return CUDA_ERROR_INVALID_VALUE;
  JitOptions log;
  if (CUresult result = log.read(numOptions, options, optionValues)) return result;
  LinkState* link = driver().links.create();
  if (!link) return CUDA_ERROR_OUT_OF_MEMORY;
  link->context = context;
  link->log = log;
  *stateOut = reinterpret_cast<CUlinkState>(link);
  return CUDA_SUCCESS;
}

/// partial: PTX and fat binaries with PTX only
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size,
                       const char* name, unsigned int numOptions, CUjit_option* options,
                       void** optionValues) {
  LinkState* link;
  if (CUresult result = resolve_link(state, &link)) return result;
  if (!data || !size || !link->image.empty()) return CUDA_ERROR_INVALID_VALUE;
  JitOptions own;
  if (CUresult result = own.read(numOptions, options, optionValues)) return result;
  return add(*link, type, data, size, name);
}

/// partial: PTX and fat binaries with PTX only
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path,
                       unsigned int numOptions, CUjit_option* options, void** optionValues) {
  LinkState* link;
  if (CUresult result = resolve_link(state, &link)) return result;
  if (!path || !link->image.empty()) return CUDA_ERROR_INVALID_VALUE;
  JitOptions own;
  if (CUresult result = own.read(numOptions, options, optionValues)) return result;
  auto bytes = read_file(path);
  if (!bytes.ok()) return report_to_log(bytes.error(), link->log);
  return add(*link, type, bytes->c_str(), bytes->size(), path);
}

CUresult cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) {
  LinkState* link;
  if (CUresult result = resolve_link(state, &link)) return result;
  if (!cubinOut) return CUDA_ERROR_INVALID_VALUE;
  if (link->image.empty()) {
    // Linking here finds the errors now, in this log; loading links again.
    auto program = make_program({link->texts, {}, true}, link->log);
    if (!program.ok()) return report_to_log(program.error(), link->log);
    link->image = fatbin::pack_linked(link->texts);
  }
  link->log.deliver();
  *cubinOut = link->image.data();
  if (sizeOut) *sizeOut = link->image.size();
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  LinkState* link;
  if (CUresult result = resolve_link(state, &link)) return result;
  if (!driver().links.retire(link)) return CUDA_ERROR_INVALID_HANDLE;
  driver().links.destroy(link);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
