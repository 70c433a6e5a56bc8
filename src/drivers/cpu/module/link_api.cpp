// cuLink*: collects PTX (text, in fat binaries, host objects and archives of them), links it on
// Complete and hands out one image.
// The image is Limen's own container of the PTX, not a cubin: it loads with cuModuleLoadData of
// this driver only. Invariant: the image lives until cuLinkDestroy. Thread rule: one thread a link
// state.
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "compiler/fatbin/archive.h"
#include "compiler/fatbin/linked.h"
#include "compiler/ptx/link.h"
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

/// Appends the PTX of every fat binary in a host object; an object may have none.
/// errors: unknown, as NVIDIA's driver, for what is no object (measured H200, driver 580.159.04).
Result<void> add_object(LinkState& link, std::string_view object) {
  if (object.substr(0, 4) != "\177ELF")
    return Error{Code::unknown, "what was given as an object is none", "give an ELF file"};
  LIMEN_TRY(std::vector<fatbin::Found> found,
            fatbin::scan_elf_bytes(std::vector<uint8_t>(object.begin(), object.end())));
  for (const fatbin::Found& one : found) {
    LIMEN_TRY(ChosenPtx chosen, cpu::choose_ptx(one.image, link.context->device.capability()));
    for (std::string& text : chosen.texts) link.texts.push_back(std::move(text));
  }
  return {};
}

Result<void> add_library(LinkState& link, std::string_view archive) {
  if (!fatbin::is_archive(archive))
    return Error{Code::unknown, "what was given as a library is none", "give an archive (.a)"};
  LIMEN_TRY(std::vector<fatbin::Member> members, fatbin::archive_members(archive));
  if (fatbin::is_device_runtime(archive)) return {};
  for (const fatbin::Member& member : members) LIMEN_CHECK(add_object(link, member.bytes));
  return {};
}

Result<void> add_ptx(LinkState& link, const char* data, size_t bytes) {
  auto image = fatbin::parse_memory(data, bytes);
  if (!image.ok() || image->form() != fatbin::Form::ptx_text)
    return Error{Code::invalid_image, "what was given as PTX is no such text", ""};
  std::string text(data, bytes);
  text.resize(std::strlen(text.c_str()));
  // Compiled here by NVIDIA's driver: errors are this call's. What is missing is the link's matter.
  LIMEN_TRY(std::unique_ptr<ptx::Module> parsed, ptx::parse_module(text));
  if (!defines_device_runtime(*parsed)) {
    Program whole(std::move(parsed), {});
    LIMEN_CHECK(whole.verify_all(true, [](const ptx::Function&) { return Result<void>(); }));
  }
  link.texts.push_back(std::move(text));
  return {};
}

/// Code for the device itself: only what cuLinkComplete made here can be used.
Result<void> add_machine_code(LinkState& link, const void* data) {
  auto chosen = choose_ptx(data, link.context->device, false);
  if (!chosen.ok() && chosen.error().code != Code::no_binary_for_gpu) return chosen.error();
  if (!chosen.ok())
    return Error{Code::no_binary_for_gpu, "machine code (cubin) cannot run here", "give PTX"};
  for (std::string& text : chosen->texts) link.texts.push_back(std::move(text));
  return {};
}

Result<void> add_input(LinkState& link, CUjitInputType type, const char* data, size_t bytes) {
  switch (type) {
    case CU_JIT_INPUT_CUBIN:
      return add_machine_code(link, data);
    case CU_JIT_INPUT_PTX:
      return add_ptx(link, data, bytes);
    case CU_JIT_INPUT_FATBINARY: {
      LIMEN_TRY(fatbin::Image image, fatbin::parse_pointer(data));
      // The text itself is taken, too. measured H200, driver 580.159.04
      if (image.form() == fatbin::Form::ptx_text) return add_ptx(link, data, bytes);
      LIMEN_TRY(ChosenPtx chosen, choose_ptx(data, link.context->device, false));
      for (std::string& text : chosen.texts) link.texts.push_back(std::move(text));
      return {};
    }
    case CU_JIT_INPUT_OBJECT: {
      const size_t before = link.texts.size();
      LIMEN_CHECK(add_object(link, {data, bytes}));
      if (link.texts.size() == before)
        return Error{Code::invalid_image, "the object holds no device code", ""};
      return {};
    }
    case CU_JIT_INPUT_LIBRARY:
      return add_library(link, {data, bytes});
    default:
      return Error{Code::not_supported, "NVVM IR is linked by nvJitLink only", "give PTX"};
  }
}

/// What this part defines may stand in no other. Found when the part comes, as by NVIDIA's driver.
Result<void> note_definitions(LinkState& link, size_t first_text) {
  std::set<std::string> defined = link.defined;
  for (size_t i = first_text; i < link.texts.size(); ++i) {
    LIMEN_TRY(std::unique_ptr<ptx::Module> module, ptx::parse_module(link.texts[i]));
    if (defines_device_runtime(*module)) continue;
    for (std::string& name : ptx::strong_definitions(*module)) {
      if (!defined.insert(name).second)
        return Error{Code::invalid_source, fmt::format("multiple definition of '{}'", name),
                     "keep one definition"};
    }
  }
  link.defined = std::move(defined);
  return {};
}

CUresult add(LinkState& link, CUjitInputType type, const void* data, size_t bytes,
             const char* name) {
  if (type < 0 || type >= CU_JIT_NUM_INPUT_TYPES) return CUDA_ERROR_INVALID_VALUE;
  const size_t before = link.texts.size();
  auto added = add_input(link, type, static_cast<const char*>(data), bytes);
  if (added.ok()) added = note_definitions(link, before);
  if (added.ok()) return CUDA_SUCCESS;
  link.texts.resize(before);
  Error error = added.error();
  // A line stays in front: what reads the log looks for NVIDIA's "ptx input, line 7".
  if (error.what.rfind("line ", 0) != 0)
    error.what = fmt::format("{}: {}", name ? name : "<unnamed>", error.what);
  return report_to_log(error, link.log);
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

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size,
                       const char* name, unsigned int numOptions, CUjit_option* options,
                       void** optionValues) {
  LinkState* link;
  if (CUresult result = resolve_link(state, &link)) return result;
  if (!data || !size || link->complete) return CUDA_ERROR_INVALID_VALUE;
  JitOptions own;
  if (CUresult result = own.read(numOptions, options, optionValues)) return result;
  return add(*link, type, data, size, name);
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path,
                       unsigned int numOptions, CUjit_option* options, void** optionValues) {
  LinkState* link;
  if (CUresult result = resolve_link(state, &link)) return result;
  if (!path || link->complete) return CUDA_ERROR_INVALID_VALUE;
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
  // It can be completed once. measured H200, driver 580.159.04
  if (link->complete) return CUDA_ERROR_INVALID_HANDLE;
  // Linking here finds the errors now, in this log; loading links again.
  auto program = make_program({link->texts, {}, true}, link->log);
  if (!program.ok()) {
    Error error = program.error();
    // What is missing is the source's fault here, and the text's where it is loaded alone (H200).
    if (error.code == Code::invalid_ptx) error.code = Code::invalid_source;
    return report_to_log(error, link->log);
  }
  link->image = fatbin::pack_linked(link->texts);
  link->complete = true;
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
