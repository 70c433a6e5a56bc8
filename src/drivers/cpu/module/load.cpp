// Choosing, decompressing, parsing, linking. The message for the JIT log is the parser's, with its
// line; codes are NVIDIA's as measured on an H200. Thread rule: see the header.
#include "drivers/cpu/module/load.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/closed_library.h"
#include "base/log.h"
#include "compiler/fatbin/linked.h"
#include "compiler/fatbin/ptx_version.h"
#include "compiler/image/image.h"
#include "compiler/ptx/link.h"
#include "compiler/ptx/parser.h"
#include "devlib/device_runtime.h"

namespace limen::cpu {

namespace {

constexpr uint64_t constant_limit_bytes = 65536;

bool wants_cooperative_functions(const std::vector<std::unique_ptr<ptx::Module>>& modules) {
  return std::any_of(modules.begin(), modules.end(), [](const auto& module) {
    return std::any_of(module->functions.begin(), module->functions.end(), [](const auto& function) {
      return !function.has_body && kernel::is_cooperative_function(function.name);
    });
  });
}

/// A part without PTX is missed if a function is. One part may be NVIDIA's device runtime, which
/// holds machine code only.
void warn_of_missing_parts(const std::vector<std::string>& left_out, const Program& program) {
  const auto& functions = program.module().functions;
  const bool complete = std::all_of(functions.begin(), functions.end(), [](const auto& function) {
    return function.has_body || kernel::is_provided_function(function.name);
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
        if (callee.has_body || kernel::is_provided_function(callee.name)) continue;
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

/// Does the image hold machine code that runs on a GPU of this capability? The same major version and
/// no newer minor one. source: CUDA C++ Programming Guide 13.0, "Binary Compatibility".
bool has_machine_code(const fatbin::Image& image, uint32_t capability) {
  const auto& entries = image.entries();
  return std::any_of(entries.begin(), entries.end(), [&](const fatbin::Entry& entry) {
    return entry.kind == fatbin::Kind::cubin && entry.sm / 10 == capability / 10 &&
           entry.sm <= capability && (entry.suffix != 'a' || entry.sm == capability);
  });
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

bool defines_device_runtime(const ptx::Module& module) {
  return std::any_of(module.functions.begin(), module.functions.end(), [](const auto& function) {
    return function.has_body && kernel::find_device_function(function.name) != nullptr;
  });
}

Result<ChosenPtx> choose_ptx(const fatbin::Image& image, uint32_t capability) {
  ChosenPtx chosen;
  const bool lower_version = has_machine_code(image, capability);
  LIMEN_TRY(fatbin::Choice choice, fatbin::choose_ptx(image, capability));
  chosen.left_out = std::move(choice.left_out);
  for (uint32_t index : choice.entries) {
    LIMEN_TRY(std::string text, image.ptx_text(image.entries()[index]));
    // NVIDIA's driver would run the machine code, whatever toolkit made it. Each instruction is
    // checked when it is compiled, so what is new in the newer version is refused by name.
    if (lower_version)
      fatbin::lower_ptx_version(text.data(), text.size(), ptx::newest_major, ptx::newest_minor);
    chosen.texts.push_back(std::move(text));
  }
  return chosen;
}

Result<ChosenPtx> choose_ptx(const void* code, const Device& device, bool wrapped) {
  if (!code) return Error{Code::invalid_value, "null image", ""};
  if (fatbin::is_linked(code)) return ChosenPtx{fatbin::unpack_linked(code), {}, true};
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
  auto chosen = cpu::choose_ptx(image, capability_for(code, device.capability()));
  if (!chosen.ok() && is_in_closed_library(code)) return closed_library_error(chosen.error());
  return chosen;
}

Error closed_library_error(Error error) {
  error.remedy = config().library_cc.major
                     ? "this part of NVIDIA's library has no PTX: it cannot run here"
                     : "NVIDIA's own libraries are off; to use the PTX that they carry, if their "
                       "licence allows you to, set LIMEN_LIBRARY_CC=13.0";
  return error;
}

namespace {

/// What the options say of the kernels, and what the log says of them.
void apply_options(ptx::Module& module, JitOptions& options) {
  for (ptx::Function& function : module.functions) {
    if (!function.is_entry || !function.has_body) continue;
    const bool bound = function.max_ntid[0] || function.req_ntid[0];
    if (options.max_threads() && (!bound || options.overrides()))
      function.max_ntid = {options.max_threads(), 1, 1};
    const bool limited = function.max_nreg || bound || function.min_ctapersm;
    if (options.max_registers() && (!limited || options.overrides()))
      function.max_nreg = options.max_registers();
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
    if (chosen.texts.size() > 1 && defines_device_runtime(*module)) continue;
    modules.push_back(std::move(module));
  }
  if (wants_cooperative_functions(modules)) {
    all += image::content_hash(kernel::cooperative_ptx.data(), kernel::cooperative_ptx.size());
    LIMEN_TRY(std::unique_ptr<ptx::Module> own,
              ptx::parse_module(std::string(kernel::cooperative_ptx)));
    modules.push_back(std::move(own));
  }
  LIMEN_TRY(std::unique_ptr<ptx::Module> linked, ptx::link_modules(std::move(modules)));
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
