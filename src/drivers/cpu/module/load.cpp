// Choosing, decompressing, parsing, linking. The message for the JIT log is the parser's, with its
// line; codes are NVIDIA's as measured on an H200. Thread rule: see the header.
#include "drivers/cpu/module/load.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/log.h"
#include "compiler/image/image.h"
#include "compiler/ptx/parser.h"
#include "devlib/device_runtime.h"
#include "drivers/cpu/module/link.h"

namespace limen::cpu {

namespace {

constexpr char linked_magic[8] = {'\x7f', 'L', 'i', 'm', 'L', 'i', 'n', 'k'};
constexpr uint64_t constant_limit_bytes = 65536;

/// Reads without trusting the pointer: a wild one is for the fat binary parser to report.
bool is_linked(const void* code) {
  char head[sizeof linked_magic];
  iovec to{head, sizeof head}, from{const_cast<void*>(code), sizeof head};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == ssize_t(sizeof head) &&
         std::memcmp(head, linked_magic, sizeof head) == 0;
}

/// Texts of a block made by pack_linked.
std::vector<std::string> unpack_linked(const char* block) {
  std::vector<std::string> texts;
  uint64_t count, bytes;
  std::memcpy(&count, block + 8, 8);
  const char* at = block + 16;
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(&bytes, at, 8);
    texts.emplace_back(at + 8, bytes);
    at += 8 + bytes;
  }
  return texts;
}

/// Functions that the device provides to kernels.
bool is_provided(const std::string& name) {
  return name == "vprintf" || name == "malloc" || name == "free" || name == "__assertfail" ||
         kernel::find_device_function(name) != nullptr;
}

/// NVIDIA's device runtime, which programs are linked with: Limen has its own.
bool is_device_runtime(const ptx::Module& module) {
  return std::any_of(module.functions.begin(), module.functions.end(), [](const auto& function) {
    return function.has_body && kernel::find_device_function(function.name) != nullptr;
  });
}

/// A part without PTX is missed if a function is. One part may be NVIDIA's device runtime, which
/// holds machine code only.
void warn_of_missing_parts(const std::vector<std::string>& left_out, const Program& program) {
  const auto& functions = program.module().functions;
  const bool complete = std::all_of(functions.begin(), functions.end(), [](const auto& function) {
    return function.has_body || is_provided(function.name);
  });
  if (left_out.size() == 1 && complete && program.launches_grids()) return;
  for (const std::string& left : left_out)
    log::write(log::Level::warn,
               "a part of a separately compiled program has no usable PTX: " + left);
}

/// Every function that is called must have a body or be the device's own.
Result<void> check_calls(const ptx::Module& module, const ptx::Function& function) {
  for (const ptx::Block& block : function.blocks)
    for (const ptx::Instruction& instruction : block.body)
      for (const ptx::Operand& operand : instruction.ops) {
        if (operand.symbol_kind != ptx::Operand::SymbolKind::function) continue;
        const ptx::Function& callee = module.functions[operand.index];
        if (callee.has_body || is_provided(callee.name)) continue;
        if (kernel::is_old_device_function(callee.name))
          return Error{Code::unsupported_devside_sync,
                       fmt::format("line {}: '{}' is of the first device runtime (CDP1), which "
                                   "this device does not have",
                                   instruction.line, callee.name),
                       "build for the second, without CUDA_FORCE_CDP1_IF_SUPPORTED"};
        return Error{Code::invalid_ptx,
                     fmt::format("line {}: unresolved extern function '{}'", instruction.line,
                                 callee.name),
                     "link the PTX that defines it"};
      }
  return {};
}

/// Definitions that the whole program lacks, and the size of its constants.
Result<void> check_whole(ptx::Module& module, JitOptions& log) {
  uint64_t constants = 0;
  for (ptx::Variable& variable : module.variables) {
    if (variable.space == ptx::Space::constant) constants += variable.bytes;
    if (variable.linkage != ptx::Linkage::external || variable.space == ptx::Space::shared)
      continue;
    // NVIDIA's compiler takes the declaration for a definition and says so. measured H200, 580.x
    log.info(
        fmt::format("ptxas warning : Unresolved extern variable '{}' in whole program compilation, "
                    "ignoring extern qualifier",
                    variable.name));
    variable.linkage = ptx::Linkage::visible;
  }
  if (constants > constant_limit_bytes)
    return Error{Code::invalid_ptx,
                 fmt::format("file uses too much global constant data ({} bytes, {} at most)",
                             constants, constant_limit_bytes),
                 ""};
  return {};
}

}  // namespace

Result<ChosenPtx> choose_ptx(const fatbin::Image& image, const Device& device) {
  ChosenPtx chosen;
  LIMEN_TRY(fatbin::Choice choice, fatbin::choose_ptx(image, device.capability()));
  chosen.left_out = std::move(choice.left_out);
  for (uint32_t index : choice.entries) {
    LIMEN_TRY(std::string text, image.ptx_text(image.entries()[index]));
    chosen.texts.push_back(std::move(text));
  }
  return chosen;
}

Result<ChosenPtx> choose_ptx(const void* code, const Device& device, bool wrapped) {
  if (!code) return Error{Code::invalid_value, "null image", ""};
  if (is_linked(code)) return ChosenPtx{unpack_linked(static_cast<const char*>(code)), {}, true};
  LIMEN_TRY(fatbin::Image image, fatbin::parse_pointer(code));
  bool is_wrapper =
      image.form() == fatbin::Form::wrapper_v1 || image.form() == fatbin::Form::wrapper_v2;
  if (is_wrapper && !wrapped)
    return Error{Code::invalid_image, "a fat binary's wrapper is no image for this call",
                 "pass the fat binary that it points to"};
  if (image.form() == fatbin::Form::ptx_text) {
    const fatbin::Entry& entry = image.entries().front();
    ChosenPtx chosen;
    chosen.user_text = true;
    LIMEN_TRY(std::string text, image.ptx_text(entry));
    if (entry.sm && !fatbin::ptx_runs_on(entry.sm, entry.suffix, device.capability()))
      return Error{
          Code::invalid_ptx,
          fmt::format("SM version sm_{}{} of .target does not run on this sm_{} device", entry.sm,
                      entry.suffix ? std::string(1, entry.suffix) : "", device.capability()),
          "compile for an older target or set LIMEN_CC"};
    chosen.texts.push_back(std::move(text));
    return chosen;
  }
  return choose_ptx(image, device);
}

namespace {

/// What the options say of the kernels, and what the log says of them.
void apply_options(ptx::Module& module, JitOptions& options) {
  for (ptx::Function& function : module.functions) {
    if (!function.is_entry || !function.has_body) continue;
    const bool bound = function.max_ntid[0] || function.req_ntid[0];
    if (options.max_threads() && (!bound || options.overrides()))
      function.max_ntid = {options.max_threads(), 1, 1};
    if (options.verbose())
      options.info(fmt::format("ptxas info    : Compiling entry function '{}' for 'sm_{}'",
                               function.name, module.target_sm));
  }
}

}  // namespace

Result<std::shared_ptr<Program>> make_program(ChosenPtx chosen, JitOptions& log) {
  std::string all;
  const size_t texts = chosen.texts.size();
  std::vector<std::unique_ptr<ptx::Module>> modules;
  for (std::string& text : chosen.texts) {
    all += image::content_hash(text.data(), text.size());
    LIMEN_TRY(std::unique_ptr<ptx::Module> module, ptx::parse_module(std::move(text)));
    if (chosen.texts.size() > 1 && is_device_runtime(*module)) continue;
    modules.push_back(std::move(module));
  }
  LIMEN_TRY(std::unique_ptr<ptx::Module> linked, link_modules(std::move(modules)));
  LIMEN_CHECK(check_whole(*linked, log));
  apply_options(*linked, log);
  if (log.max_threads()) all += fmt::format("{} threads", log.max_threads());
  auto program =
      std::make_shared<Program>(std::move(linked), image::content_hash(all.data(), all.size()));
  warn_of_missing_parts(chosen.left_out, *program);
  if (chosen.user_text) {
    const ptx::Module& module = program->module();
    // Parsed bodies take some fifteen times the memory of their text.
    constexpr size_t large_text_bytes = size_t{4} << 20;
    const bool forget = texts == 1 && module.text.size() > large_text_bytes;
    LIMEN_CHECK(program->verify_all(
        forget, [&](const ptx::Function& function) { return check_calls(module, function); }));
  }
  return program;
}

std::string pack_linked(const std::vector<std::string>& texts) {
  std::string block(linked_magic, sizeof linked_magic);
  auto number = [&](uint64_t value) {
    block.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  number(texts.size());
  for (const std::string& text : texts) {
    number(text.size());
    block += text;
  }
  return block;
}

Result<std::string> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Nothing to read is no failure of an open file; a folder can be opened, too.
  const bool empty = file && file.peek() == std::ifstream::traits_type::eof() && !file.bad();
  if (empty) return std::string();
  if (!file || !(text << file.rdbuf()))
    return Error{Code::file_not_found, fmt::format("cannot read '{}'", path), ""};
  return std::move(text).str();
}

}  // namespace limen::cpu
