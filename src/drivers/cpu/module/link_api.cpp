// cuLink*: collects PTX (text, in fat binaries, host objects and archives of them), links it on
// Complete and hands out one image.
// The image is Limen's own container of the PTX, not a cubin: it loads with cuModuleLoadData of
// this driver only. Invariant: the image lives until cuLinkDestroy. Thread rule: one thread a link
// state.
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "compiler/ptx/parser.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/module/link.h"
#include "drivers/cpu/module/load.h"
#include "drivers/cpu/module/module.h"

namespace limen::cpu {

namespace {

CUresult resolve_link(CUlinkState handle, LinkState** link) {
  *link = driver().links.resolve(handle);
  return *link ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/// Members of an ar archive, in order. errors: invalid_image.
struct Member {
  std::string_view name, body;
};
Result<std::vector<Member>> read_archive(std::string_view archive) {
  constexpr std::string_view magic = "!<arch>\n";
  constexpr size_t head_bytes = 60, name_bytes = 16, size_at = 48, size_digits = 10;
  if (archive.substr(0, magic.size()) != magic)
    return Error{Code::invalid_image, "the library is no archive", ""};
  std::vector<Member> members;
  for (size_t at = magic.size(); at + head_bytes <= archive.size();) {
    const std::string digits(archive.substr(at + size_at, size_digits));
    const size_t size = std::strtoul(digits.c_str(), nullptr, 10);
    if (size > archive.size() - at - head_bytes)
      return Error{Code::invalid_image,
                   fmt::format("the archive's member at {} leaves the archive of {} bytes", at,
                               archive.size()),
                   ""};
    members.push_back({archive.substr(at, name_bytes), archive.substr(at + head_bytes, size)});
    at += head_bytes + size + size % 2;
  }
  return members;
}

bool is_list(const Member& member) {
  return member.name.substr(0, 2) == "//" || member.name.substr(0, 2) == "/ " ||
         member.name.substr(0, 7) == "/SYM64/";
}

/// Is this libcudadevrt.a, an archive of one object? Limen has a device runtime of its own, so
/// there is nothing to take from it.
bool is_device_runtime(const std::vector<Member>& members) {
  size_t objects = 0;
  bool named = false;
  for (const Member& member : members) {
    if (member.name.substr(0, 2) == "//")
      named |= member.body.find("cuda_device_runtime.o") != std::string_view::npos;
    objects += !is_list(member);
  }
  return named && objects == 1;
}

/// Appends the PTX of every fat binary in a host object; an object may have none.
Result<void> add_object(LinkState& link, std::string_view object) {
  LIMEN_TRY(std::vector<fatbin::Found> found,
            fatbin::scan_elf_bytes(std::vector<uint8_t>(object.begin(), object.end())));
  for (const fatbin::Found& one : found) {
    LIMEN_TRY(ChosenPtx chosen, choose_ptx(one.image, link.context->device));
    for (std::string& text : chosen.texts) link.texts.push_back(std::move(text));
  }
  return {};
}

Result<void> add_library(LinkState& link, std::string_view archive) {
  LIMEN_TRY(std::vector<Member> members, read_archive(archive));
  if (is_device_runtime(members)) return {};
  for (const Member& member : members)
    if (!is_list(member)) LIMEN_CHECK(add_object(link, member.body));
  return {};
}

Result<void> add_ptx(LinkState& link, const char* data, size_t bytes) {
  LIMEN_TRY(fatbin::Image image, fatbin::parse_memory(data, bytes));
  if (image.form() != fatbin::Form::ptx_text)
    return Error{Code::invalid_image, "what was given as PTX is no text", ""};
  std::string text(data, bytes);
  text.resize(std::strlen(text.c_str()));
  LIMEN_TRY(std::unique_ptr<ptx::Module> parsed, ptx::parse_module(text));
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

CUresult add(LinkState& link, CUjitInputType type, const void* data, size_t bytes,
             const char* name) {
  if (type < 0 || type >= CU_JIT_NUM_INPUT_TYPES) return CUDA_ERROR_INVALID_VALUE;
  const size_t before = link.texts.size();
  auto added = add_input(link, type, static_cast<const char*>(data), bytes);
  if (added.ok()) return CUDA_SUCCESS;
  link.texts.resize(before);
  Error error = added.error();
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
  if (!data || !size || !link->image.empty()) return CUDA_ERROR_INVALID_VALUE;
  JitOptions own;
  if (CUresult result = own.read(numOptions, options, optionValues)) return result;
  return add(*link, type, data, size, name);
}

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
    link->image = pack_linked(link->texts);
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
