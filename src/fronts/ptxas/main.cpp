// A ptxas for the CPU device: takes the assembler's command line, checks the PTX as the driver will,
// and writes it where machine code is expected; cuModuleLoadData takes it from there. Prints what
// callers read: the version, errors with file and line, and with -v a line of resources a kernel.
// Exit codes as ptxas has them: 0 and 255. Thread rule: one thread.
// Design: docs/design/runtime_compilation.md
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "compiler/fatbin/linked.h"
#include "compiler/fatbin/ptx_version.h"
#include "compiler/ptx/link.h"
#include "compiler/ptx/parser.h"
#include "compiler/ptx/register_count.h"
#include "devlib/device_runtime.h"
#include "fronts/ptxas/options.h"

namespace limen::fronts::ptxas {
namespace {

constexpr int failed = 255;
constexpr uint32_t registers_of_multiprocessor = 65536;  ///< source: as most_registers

int fatal(const std::string& text) {
  fmt::print(stderr, "ptxas fatal   : {}\n", text);
  return failed;
}

/// "line 5, column 3: why" becomes "ptxas a.ptx, line 5; error   : why", which callers look for.
int report(const std::string& name, const std::string& what) {
  const size_t colon = what.find(": ");
  const bool placed = what.compare(0, 5, "line ") == 0 && colon != std::string::npos;
  const std::string place = placed ? what.substr(0, std::min(what.find(','), colon)) : "line 1";
  fmt::print(stderr, "ptxas {}, {}; error   : {}\n", name, place,
             placed ? what.substr(colon + 2) : what);
  return fatal("Ptx assembly aborted due to errors");
}

Result<std::unique_ptr<ptx::Module>> check(const std::string& text) {
  LIMEN_TRY(std::unique_ptr<ptx::Module> module, ptx::parse_module(text));
  for (ptx::Index i = 0; i < module->functions.size(); ++i) {
    if (!module->functions[i].has_body) continue;
    LIMEN_CHECK(ptx::parse_body(*module, i));
    LIMEN_CHECK(ptx::verify_body(*module, i));
  }
  return module;
}

/// The first function that is called and has no body; empty if there is none.
std::string unresolved(const ptx::Module& module) {
  for (const ptx::Function& function : module.functions)
    for (const ptx::Block& block : function.blocks)
      for (const ptx::Instruction& instruction : block.body)
        for (const ptx::Operand& operand : instruction.ops) {
          if (operand.symbol_kind != ptx::Operand::SymbolKind::function) continue;
          const ptx::Function& callee = module.functions[operand.index];
          if (!callee.has_body && !kernel::is_provided_function(callee.name)) return callee.name;
        }
  return "";
}

uint64_t shared_bytes(const ptx::Module& module, const ptx::Function& function) {
  uint64_t bytes = 0;
  for (const ptx::Variable& local : function.locals)
    if (local.space == ptx::Space::shared) bytes += local.bytes;
  for (const ptx::Variable& variable : module.variables)
    if (variable.space == ptx::Space::shared && variable.linkage != ptx::Linkage::external)
      bytes += variable.bytes;
  return bytes;
}

void print_resources(const ptx::Module& module, const Options& options) {
  uint64_t global_bytes = 0;
  for (const ptx::Variable& variable : module.variables)
    if (variable.space == ptx::Space::global) global_bytes += variable.bytes;
  fmt::print(stderr, "ptxas info    : {} bytes gmem\n", global_bytes);
  for (const ptx::Function& function : module.functions) {
    if (!function.has_body) continue;
    if (function.is_entry)
      fmt::print(stderr, "ptxas info    : Compiling entry function '{}' for 'sm_{}{}'\n",
                 function.name, options.sm,
                 options.suffix ? std::string(1, options.suffix) : "");
    fmt::print(stderr,
               "ptxas info    : Function properties for {}\n"
               "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n",
               function.name);
    if (!function.is_entry) continue;
    const uint64_t shared = shared_bytes(module, function);
    uint32_t registers = ptx::limit_registers(function, ptx::estimate_registers(function),
                                              registers_of_multiprocessor);
    if (options.most_registers) registers = std::min(registers, options.most_registers);
    fmt::print(stderr, "ptxas info    : Used {} registers, used 0 barriers{}\n", registers,
               shared ? fmt::format(", {} bytes smem", shared) : "");
  }
}

int print_version() {
  fmt::print(
      "ptxas: Limen's front for the assembler: checks PTX and hands it on to the CPU device\n"
      "Cuda compilation tools, release {0}.{1}, V{0}.{1}.0\n",
      13, 0);
  return 0;
}

int print_help() {
  fmt::print(
      "\nUsage  : ptxas [options] <ptx file>,...\n\n"
      "Takes the options of NVIDIA's ptxas 13.0. Those that steer code generation have no effect:\n"
      "the output is the PTX, checked, which Limen compiles when a kernel is first launched.\n");
  return 0;
}

struct Input {
  std::string name, text;
};

/// Reads the inputs; a fatal error is printed, and `ok` false.
std::vector<Input> read_inputs(const Options& options, bool& ok) {
  std::vector<Input> inputs;
  ok = true;
  for (const std::string& name : options.inputs) {
    std::ifstream file;
    const bool standard = name == "-";
    if (!standard) file.open(name, std::ios::binary);
    if (!standard && !file) {
      fatal(fmt::format("Input file '{}' could not be opened", name));
      ok = false;
      return {};
    }
    std::istream& stream = standard ? std::cin : file;
    inputs.push_back({standard ? "<stdin>" : name,
                      std::string(std::istreambuf_iterator<char>(stream), {})});
  }
  for (const std::string& text : options.texts) inputs.push_back({"<string>", text});
  return inputs;
}

int write_output(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? 0 : fatal(fmt::format("Could not open output file '{}'", path));
}

int assemble(const Options& options, std::vector<Input> inputs) {
  std::vector<std::unique_ptr<ptx::Module>> modules;
  std::vector<std::string> texts;
  for (Input& input : inputs) {
    input.text.resize(std::min(input.text.find('\0'), input.text.size()));
    fatbin::lower_ptx_version(input.text.data(), input.text.size(), ptx::newest_major,
                              ptx::newest_minor);
    auto module = check(input.text);
    if (!module.ok()) return report(input.name, module.error().what);
    if ((*module)->target_sm > options.sm)
      return fatal("SM version specified by .target is higher than default SM version assumed");
    if (options.verbose) print_resources(**module, options);
    modules.push_back(std::move(*module));
    if (options.most_registers)
      input.text = ptx::with_register_limit(*modules.back(), std::move(input.text),
                                            options.most_registers);
    texts.push_back(std::move(input.text));
  }
  auto whole = ptx::link_modules(std::move(modules));
  if (!whole.ok()) return fatal(whole.error().what);
  if (!options.compile_only)
    if (const std::string name = unresolved(**whole); !name.empty())
      return fatal(fmt::format("Unresolved extern function '{}'", name));
  if (options.parse_only) return 0;
  // One text ends in a NUL, since programs load the file's bytes as they are.
  return write_output(options.output, texts.size() == 1 ? texts.front() + '\0'
                                                        : fatbin::pack_linked(texts));
}

int run(const std::vector<std::string>& words) {
  auto options = read_options(words);
  if (!options.ok()) return fatal(options.error().what);
  for (const std::string& word : options->unknown)
    fmt::print(stderr, "ptxas warning : Option '{}' is not known here and has no effect\n", word);
  if (options->version) return print_version();
  if (options->help || words.empty()) return print_help();
  if (options->list_versions) {
    for (const char* version : {"6.0", "7.0", "8.0", "8.8", "9.0"}) fmt::print("{}\n", version);
    return 0;
  }
  if (options->inputs.empty() && options->texts.empty()) return fatal("No input file specified");
  bool ok = false;
  std::vector<Input> inputs = read_inputs(*options, ok);
  return ok ? assemble(*options, std::move(inputs)) : failed;
}

}  // namespace
}  // namespace limen::fronts::ptxas

int main(int count, char** words) {
  return limen::fronts::ptxas::run({words + 1, words + count});
}
