// Error texts follow NVIDIA's library 13.0 (measured), since programs show them to their users.
// Thread rule: see the header.
#include "fronts/nvjitlink/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/fatbin/archive.h"
#include "compiler/fatbin/linked.h"
#include "compiler/fatbin/ptx_version.h"
#include "compiler/ptx/link.h"
#include "compiler/ptx/parser.h"
#include "compiler/ptx/register_count.h"
#include "devlib/device_runtime.h"

namespace limen::fronts::nvjitlink {

namespace {

/// Parses and checks a whole text.
Result<std::unique_ptr<limen::ptx::Module>> read(std::string text) {
  LIMEN_TRY(std::unique_ptr<limen::ptx::Module> module, limen::ptx::parse_module(std::move(text)));
  for (limen::ptx::Index i = 0; i < module->functions.size(); ++i) {
    if (!module->functions[i].has_body) continue;
    LIMEN_CHECK(limen::ptx::parse_body(*module, i));
    LIMEN_CHECK(limen::ptx::verify_body(*module, i));
  }
  return module;
}

std::string_view bytes_of(const void* data, size_t size) {
  return {static_cast<const char*>(data), size};
}

/// The prefix of LTO-IR is not published; all that is no other kind is taken for it.
int kind_of(const void* data, size_t size) {
  constexpr size_t machine_at = 18;
  constexpr unsigned char cuda_machine = 190;  // e_machine of a cubin; source: LLVM's ELF.h
  const std::string_view bytes = bytes_of(data, size);
  if (fatbin::is_archive(bytes)) return library;
  if (bytes.substr(0, 4) ==
      "\x7f"
      "ELF")
    return bytes.size() > machine_at &&
                   static_cast<unsigned char>(bytes[machine_at]) == cuda_machine
               ? cubin
               : object;
  auto image = fatbin::parse_memory(data, size);
  if (!image.ok()) return ltoir;
  return image->form() == fatbin::Form::ptx_text ? ptx : fatbin;
}

bool is_block(const void* data, size_t size) { return size >= 16 && fatbin::is_linked(data); }

}  // namespace

Link::Link(Options options, Optimizer* optimizer, std::string why)
    : options_(std::move(options)), optimizer_(optimizer), why_(std::move(why)) {}

int Link::refuse(int code, const std::string& line) {
  errors_ += line + "\n";
  return code;
}

int Link::wrong_type(const char* type, const std::string& name) {
  return refuse(
      incorrect_input_type,
      fmt::format("ERROR 1: bad input: does not match type NVJITLINK_INPUT_{} {}", type, name));
}

int Link::add(int type, const void* data, size_t size, const char* given_name) {
  const std::string name = given_name ? given_name : "<unnamed>";
  if (!data || !size) return null_input;
  if (type == any) type = is_block(data, size) ? cubin : kind_of(data, size);
  if (type == cubin && is_block(data, size)) {
    for (std::string& text : fatbin::unpack_linked(data))
      if (int code = add_ptx(std::move(text), name)) return code;
    return success;
  }
  if (type == ltoir) return add_lto(type, data, size, name);
  if (type == object) return add_object(bytes_of(data, size), name);
  if (type == library) return add_library(bytes_of(data, size), name);
  if (type != cubin && type != ptx && type != fatbin)
    return refuse(unrecognized_input, fmt::format("{}: input of unknown kind {}", name, type));
  auto image = fatbin::parse_memory(data, size);
  const bool text = image.ok() && image->form() == fatbin::Form::ptx_text;
  // Machine code that a front made is PTX.
  if (text && type != fatbin) {
    const std::string_view bytes = bytes_of(data, size);
    return add_ptx(std::string(bytes.substr(0, bytes.find('\0'))), name);
  }
  if (!image.ok() || text || type == ptx || (type == cubin && image->form() != fatbin::Form::cubin))
    return wrong_type(type == ptx ? "PTX" : type == cubin ? "CUBIN" : "FATBIN", name);
  return add_image(*image, data, size, name);
}

int Link::add_ptx(std::string text, const std::string& name) {
  fatbin::lower_ptx_version(text.data(), text.size(), limen::ptx::newest_major,
                            limen::ptx::newest_minor);
  const std::string end = fmt::format("ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX ({})", name);
  auto module = read(text);
  if (!module.ok()) {
    refuse(ptx_compile, "ptxas application ptx input, " + module.error().what);
    refuse(ptx_compile, "ptxas fatal   : Ptx assembly aborted due to errors");
    return refuse(ptx_compile, end);
  }
  if ((*module)->target_sm > options_.sm) {
    refuse(ptx_compile,
           "ptxas fatal   : SM version specified by .target is higher than default SM version "
           "assumed");
    return refuse(ptx_compile, end);
  }
  texts_.push_back({name, std::move(text)});
  return success;
}

int Link::add_image(const fatbin::Image& image, const void* data, size_t size,
                    const std::string& name) {
  auto choice = fatbin::choose_ptx(image, options_.sm);
  if (choice.ok()) {
    for (uint32_t entry : choice->entries) {
      auto text = image.ptx_text(image.entries()[entry]);
      if (!text.ok()) return refuse(invalid_input, name + ": " + text.error().what);
      if (int code = add_ptx(std::move(*text), name)) return code;
    }
    return success;
  }
  const auto& entries = image.entries();
  if (options_.lto && std::any_of(entries.begin(), entries.end(), [](const fatbin::Entry& entry) {
        return entry.kind == fatbin::Kind::lto;
      }))
    return add_lto(fatbin, data, size, name);
  return refuse(invalid_input, fmt::format("error   : {}: {}; the CPU device links PTX", name,
                                           choice.error().what));
}

int Link::add_object(std::string_view file, const std::string& name) {
  auto found = fatbin::scan_elf_bytes({file.begin(), file.end()});
  if (!found.ok()) return wrong_type("OBJECT", name);
  for (const fatbin::Found& each : *found)
    if (int code = add_image(each.image, nullptr, 0, name)) return code;
  return success;
}

int Link::add_library(std::string_view file, const std::string& name) {
  if (!fatbin::is_archive(file)) return wrong_type("LIBRARY", name);
  if (fatbin::is_device_runtime(file)) return success;
  auto members = fatbin::archive_members(file);
  if (!members.ok()) return refuse(invalid_input, name + ": " + members.error().what);
  for (const fatbin::Member& member : *members)
    if (int code = add_object(member.bytes, fmt::format("{}:{}", name, member.name))) return code;
  return success;
}

int Link::add_lto(int type, const void* data, size_t size, const std::string& name) {
  if (!options_.lto)
    return refuse(lto_not_enabled, fmt::format("ERROR: {}: LTO-IR needs -lto", name));
  if (!data)
    return refuse(invalid_input,
                  fmt::format("error   : {}: LTO-IR in host objects is not built", name));
  if (!optimizer_) return refuse(internal, fmt::format("error   : {}: {}", name, why_));
  has_lto_ = true;
  const int code = optimizer_->add(type, data, size, name.c_str());
  if (code) errors_ += optimizer_->error_log();
  return code;
}

int Link::complete_lto() {
  std::string text;
  if (int code = optimizer_->complete(text)) {
    errors_ += optimizer_->error_log();
    return code;
  }
  linked_ptx_ = text + '\0';
  return options_.ptx ? success : add_ptx(std::move(text), "ltoPtx");
}

/// Every function that is called must have a body, unless the device has it.
int Link::check_references(const limen::ptx::Module& whole) {
  for (const limen::ptx::Function& function : whole.functions)
    for (const limen::ptx::Block& block : function.blocks)
      for (const limen::ptx::Instruction& instruction : block.body)
        for (const limen::ptx::Operand& operand : instruction.ops) {
          if (operand.symbol_kind != limen::ptx::Operand::SymbolKind::function) continue;
          const limen::ptx::Function& callee = whole.functions[operand.index];
          if (callee.has_body || kernel::is_provided_function(callee.name)) continue;
          refuse(internal, fmt::format("error   : Undefined reference to '{}' in '{}'", callee.name,
                                       function.name));
          return refuse(internal, "ERROR 9: finish");
        }
  return success;
}

int Link::complete() {
  if (has_lto_)
    if (int code = complete_lto()) return code;
  if (options_.ptx) {
    if (!texts_.empty())
      return refuse(incorrect_input_type, "ERROR: -ptx requires that all inputs have LTOIR");
    return success;
  }
  std::vector<std::unique_ptr<limen::ptx::Module>> modules;
  std::vector<std::string> texts;
  for (const Text& text : texts_) {
    auto module = read(text.text);
    if (!module.ok()) return refuse(ptx_compile, module.error().what);
    modules.push_back(std::move(*module));
    texts.push_back(options_.most_registers
                        ? limen::ptx::with_register_limit(*modules.back(), text.text,
                                                          options_.most_registers)
                        : text.text);
  }
  auto whole = limen::ptx::link_modules(std::move(modules));
  if (!whole.ok()) return refuse(internal, "error   : " + whole.error().what);
  if (int code = check_references(**whole)) return code;
  if (texts.empty())
    texts.push_back(fmt::format(".version {}.{}\n.target sm_{}{}\n.address_size 64\n",
                                limen::ptx::newest_major, limen::ptx::newest_minor, options_.sm,
                                options_.suffix ? std::string(1, options_.suffix) : ""));
  image_ = texts.size() == 1 ? texts.front() + '\0' : fatbin::pack_linked(texts);
  return success;
}

}  // namespace limen::fronts::nvjitlink
