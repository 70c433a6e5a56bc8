// Versions of kernels: memory, then disk cache, then the compiler library.
// Invariant: the compiler is opened at most once and never closed. Thread rule: see the header.
#include "drivers/cpu/module/program.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <unordered_set>

#include <fmt/format.h>

#include "base/log.h"
#include "compiler/image/image.h"
#include "compiler/ptx/parser.h"
#include "compiler/ptx/register_count.h"
#include "devlib/device_runtime.h"
#include "drivers/cpu/driver.h"
#include "drivers/cpu/module/host_key.h"

namespace limen::cpu {

/// ptxas' limit, for every architecture.
constexpr uint32_t most_static_shared = 48 * 1024;

namespace {

/// Compiled code with the memory it lives in.
struct LoadedKernel : engine::KernelCode {
  std::shared_ptr<image::Code> code;
};

const image::DiskCache* disk_cache() {
  static const image::DiskCache* cache = [] {
    const Settings& settings = driver().settings;
    return settings.cache_dir.empty()
               ? nullptr
               : new image::DiskCache(settings.cache_dir, settings.cache_bytes);
  }();
  return cache;
}

/// limen_jit_compile of liblimen_jit.so beside this library.
Result<jit::CompileFn> open_compiler() {
  static std::mutex mutex;
  static jit::CompileFn compile = nullptr;
  std::lock_guard lock(mutex);
  if (compile) return compile;
  const std::string& path = compiler_path();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{Code::jit_compiler_not_found,
                 fmt::format("cannot open the compiler: {}", dlerror()),
                 "keep liblimen_jit.so beside liblimen_cpu.so"};
  compile = reinterpret_cast<jit::CompileFn>(dlsym(library, "limen_jit_compile"));
  if (!compile)
    return Error{Code::jit_compiler_not_found, path + " has no limen_jit_compile",
                 "install libraries of one build"};
  return compile;
}

std::string cache_key(const std::string& content_hash, const std::string& kernel,
                      const jit::Specialization& spec) {
  std::string text =
      fmt::format("{}|{}|{},{},{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", content_hash, kernel, spec.block[0],
                  spec.block[1], spec.block[2], spec.small_grid, spec.strategy, spec.width,
                  static_cast<int>(spec.residency), spec.opt_level, spec.exact_nan, spec.target,
                  host_key(), kernel::kernel_abi_version);
  return image::content_hash(text.data(), text.size());
}

void no_op_block(kernel::BlockContext*) {}
void no_op_warp(kernel::BlockContext*, kernel::WarpContext*) {}

std::shared_ptr<const engine::KernelCode> no_op_kernel(const std::string& name) {
  auto code = std::make_shared<engine::KernelCode>();
  code->meta.abi_version = kernel::kernel_abi_version;
  code->meta.width = 32;
  code->block_fn = no_op_block;
  code->warp_fn = no_op_warp;
  code->name = name;
  return code;
}

void dump(const std::string& directory, const std::string& stem, const std::string& suffix,
          const void* bytes, size_t size) {
  std::ofstream file(directory + "/" + stem + suffix, std::ios::binary);
  file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  if (!file) log::warn("cannot write %s/%s%s", directory.c_str(), stem.c_str(), suffix.c_str());
}

Result<std::shared_ptr<const engine::KernelCode>> load(const std::vector<uint8_t>& object,
                                                       const kernel::KernelMeta& meta,
                                                       const std::string& name) {
  if (meta.abi_version != kernel::kernel_abi_version)
    return Error{Code::invalid_image,
                 fmt::format("kernel {} was compiled for engine interface {}, "
                             "this is {}",
                             name, meta.abi_version, kernel::kernel_abi_version),
                 ""};
  LIMEN_TRY(std::shared_ptr<image::Code> code, image::load_object(object, name));
  auto loaded = std::make_shared<LoadedKernel>();
  loaded->meta = meta;
  loaded->name = name;
  loaded->code_begin = code->begin();
  loaded->code_end = code->end();
  if (meta.strategy == kernel::Strategy::region)
    loaded->block_fn = reinterpret_cast<kernel::BlockFn>(const_cast<void*>(code->entry()));
  else
    loaded->warp_fn = reinterpret_cast<kernel::WarpFn>(const_cast<void*>(code->entry()));
  loaded->code = std::move(code);
  return std::shared_ptr<const engine::KernelCode>(std::move(loaded));
}

/// Calls `visit` for every operand, also nested ones.
template <typename Visit>
void each_operand(const ptx::Operand& operand, const Visit& visit) {
  visit(operand);
  for (const ptx::Operand& element : operand.elems) each_operand(element, visit);
}

}  // namespace

Program::Program(std::unique_ptr<ptx::Module> module, std::string content_hash)
    : module_(std::move(module)), content_hash_(std::move(content_hash)) {
  versions_.resize(module_->functions.size());
  for (ptx::Index i = 0; i < module_->functions.size(); ++i) {
    const ptx::Function& function = module_->functions[i];
    launches_grids_ |= !function.has_body && kernel::find_device_function(function.name) != nullptr;
    if (!function.is_entry || !function.has_body) continue;
    kernels_.push_back(i);
    versions_[i] = std::make_unique<Versions>();
  }
}

Program::~Program() = default;

ptx::Index Program::find_kernel(const std::string& name) const {
  auto found = module_->function_index.find(name);
  if (found == module_->function_index.end() || !versions_[found->second]) return ptx::no_index;
  return found->second;
}

ptx::Index Program::find_variable(const std::string& name) const {
  auto found = module_->variable_index.find(name);
  return found == module_->variable_index.end() ? ptx::no_index : found->second;
}

std::shared_ptr<const engine::KernelCode> Program::find(Versions& versions, const uint32_t block[3],
                                                        bool small_grid,
                                                        jit::Residency residency) {
  std::lock_guard lock(versions.mutex);
  for (size_t i = 0; i < versions.list.size(); ++i) {
    Version& version = versions.list[i];
    bool any = version.block[0] == 0;
    bool fits = any || std::equal(block, block + 3, version.block);
    if (!fits || (version.small_grid && !small_grid) || version.residency != residency) continue;
    auto code = version.code;
    // The latest one stands first: a launch loop finds it at once. The general one stays last.
    if (i > 0 && !any) std::swap(versions.list[0], version);
    return code;
  }
  return nullptr;
}

Result<std::shared_ptr<const engine::KernelCode>> Program::version(ptx::Index kernel,
                                                                   const uint32_t block[3],
                                                                   bool small_grid,
                                                                   jit::Residency residency) {
  Versions& versions = *versions_[kernel];
  if (auto found = find(versions, block, small_grid, residency)) return found;
  const Settings& settings = driver().settings;
  std::lock_guard compiling(compile_mutex_);
  if (auto found = find(versions, block, small_grid, residency)) return found;
  jit::Specialization spec;
  spec.strategy = settings.strategy;
  spec.width = settings.width;
  spec.exact_nan = settings.exact_nan;
  spec.target = settings.target;
  spec.small_grid = small_grid;
  spec.residency = residency;
  bool general;
  {
    std::lock_guard lock(versions.mutex);
    general = versions.list.size() >= most_shapes;
  }
  if (general)
    spec.small_grid = false;
  else
    std::copy(block, block + 3, spec.block);
  std::shared_ptr<const engine::KernelCode> code;
  if (settings.no_op_kernels) {
    code = no_op_kernel(module_->functions[kernel].name);
  } else {
    auto built = build(kernel, spec);
    if (!built.ok()) return built.take_error();
    code = std::move(built.value());
  }
  std::lock_guard lock(versions.mutex);
  versions.list.push_back(
      {{spec.block[0], spec.block[1], spec.block[2]}, spec.small_grid, residency, code});
  return code;
}

Result<std::shared_ptr<const engine::KernelCode>> Program::build(ptx::Index kernel,
                                                                 const jit::Specialization& spec) {
  const std::string& name = module_->functions[kernel].name;
  std::string key = cache_key(content_hash_, name, spec);
  const image::DiskCache* cache = disk_cache();
  const bool executable = executes(spec.target);
  if (cache && executable) {
    if (auto entry = cache->find(key)) {
      auto loaded = load(entry->object, entry->meta, name);
      if (loaded.ok()) return loaded;
      log::write(log::Level::warn, "a cached kernel is compiled again: " + loaded.error().what);
    }
  }
  const std::string& directory = driver().settings.dump_dir;
  const Error refusal{
      Code::not_supported,
      fmt::format("kernel {} is asked for {}, whose instructions this processor lacks", name,
                  spec.target),
      "unset LIMEN_TARGET"};
  if (!executable && directory.empty()) return refusal;
  LIMEN_TRY(jit::CompileFn compile, open_compiler());
  const auto start = std::chrono::steady_clock::now();
  LIMEN_TRY(jit::CompiledKernel compiled, compile(*module_, kernel, spec));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  if (!directory.empty()) {
    std::string stem = fmt::format("{}-{}", name.substr(0, 120), key.substr(0, 8));
    dump(directory, stem, ".ptx", module_->text.data(), module_->text.size());
    dump(directory, stem, ".o", compiled.object.data(), compiled.object.size());
    dump(directory, stem, ".notes", compiled.notes.data(), compiled.notes.size());
  }
  log::write(log::Level::info,
             fmt::format("compiled {} for blocks of {}x{}x{} in {:.0f} ms: {}", name, spec.block[0],
                         spec.block[1], spec.block[2], took.count(), compiled.notes));
  if (!executable) return refusal;
  auto loaded = load(compiled.object, compiled.meta, name);
  if (loaded.ok() && cache) cache->store(key, {compiled.meta, compiled.notes, compiled.object});
  return loaded;
}

Result<void> Program::verify_all(
    bool forget, const std::function<Result<void>(const ptx::Function&)>& also) {
  {
    std::lock_guard lock(compile_mutex_);
    for (ptx::Index i = 0; i < module_->functions.size(); ++i) {
      if (!module_->functions[i].has_body) continue;
      LIMEN_CHECK(ptx::parse_body(*module_, i));
      LIMEN_CHECK(ptx::verify_body(*module_, i));
      LIMEN_CHECK(also(module_->functions[i]));
      LIMEN_CHECK(body_needs(i));
      if (forget) ptx::forget_body(*module_, i);
    }
  }
  for (ptx::Index kernel : kernels_)
    if (module_->functions[kernel].is_entry) LIMEN_CHECK(needs(kernel));
  return {};
}

/// Under compile_mutex_.
Result<const Program::BodyNeeds*> Program::body_needs(ptx::Index index) {
  if (body_needs_.empty()) body_needs_.resize(module_->functions.size());
  if (body_needs_[index]) return body_needs_[index].get();
  LIMEN_CHECK(ptx::parse_body(*module_, index));
  const ptx::Function& function = module_->functions[index];
  auto needs = std::make_unique<BodyNeeds>();
  for (const ptx::Variable& local : function.locals) {
    const std::pair<uint32_t, uint64_t> size{std::max(local.align, 1u), local.bytes};
    if (local.space == ptx::Space::shared) needs->shared.push_back(size);
    if (local.space == ptx::Space::local) needs->local.push_back(size);
  }
  std::unordered_set<ptx::Index> variables, functions;
  auto visit = [&](const ptx::Operand& operand) {
    using Symbol = ptx::Operand::SymbolKind;
    if (operand.symbol_kind == Symbol::variable && variables.insert(operand.index).second)
      needs->variables.push_back(operand.index);
    if (operand.symbol_kind == Symbol::function && functions.insert(operand.index).second)
      needs->functions.push_back(operand.index);
  };
  for (const ptx::Block& block : function.blocks)
    for (const ptx::Instruction& instruction : block.body) {
      for (const ptx::Operand& operand : instruction.ops) each_operand(operand, visit);
      for (const ptx::Operand& operand : instruction.call_args) each_operand(operand, visit);
    }
  body_needs_[index] = std::move(needs);
  return body_needs_[index].get();
}

bool Program::known_needs(ptx::Index kernel, KernelNeeds* out) {
  Versions& versions = *versions_[kernel];
  std::lock_guard lock(versions.mutex);
  *out = versions.needs;
  return versions.needs_known;
}

std::shared_ptr<KernelState> Program::state_of(ptx::Index kernel) {
  std::lock_guard lock(versions_[kernel]->mutex);
  return versions_[kernel]->state.lock();
}

void Program::share_state(ptx::Index kernel, const std::shared_ptr<KernelState>& state) {
  std::lock_guard lock(versions_[kernel]->mutex);
  versions_[kernel]->state = state;
}

/// The kernel and the functions that its code names, in turn. Under compile_mutex_.
Result<std::vector<ptx::Index>> Program::called_functions(ptx::Index kernel) {
  std::unordered_set<ptx::Index> seen{kernel};
  std::vector<ptx::Index> todo{kernel}, order;
  while (!todo.empty()) {
    const ptx::Index index = todo.back();
    todo.pop_back();
    order.push_back(index);
    LIMEN_TRY(const BodyNeeds* body, body_needs(index));
    // The address of a kernel is for a launch: its needs are its own.
    for (ptx::Index f : body->functions)
      if (module_->functions[f].has_body && !module_->functions[f].is_entry && seen.insert(f).second)
        todo.push_back(f);
  }
  return order;
}

Result<uint32_t> Program::registers(ptx::Index kernel) {
  Versions& versions = *versions_[kernel];
  {
    std::lock_guard lock(versions.mutex);
    if (versions.registers) return versions.registers;
  }
  std::lock_guard compiling(compile_mutex_);
  uint32_t most = 0;
  LIMEN_TRY(const std::vector<ptx::Index> functions, called_functions(kernel));
  // A callee's registers are the caller's: what both need is saved on the stack.
  for (ptx::Index f : functions) {
    LIMEN_CHECK(ptx::parse_body(*module_, f));
    most = std::max(most, ptx::estimate_registers(module_->functions[f]));
  }
  std::lock_guard lock(versions.mutex);
  versions.registers = most;
  return most;
}

Result<KernelNeeds> Program::needs(ptx::Index kernel) {
  Versions& versions = *versions_[kernel];
  {
    std::lock_guard lock(versions.mutex);
    if (versions.needs_known) return versions.needs;
  }
  std::lock_guard compiling(compile_mutex_);
  KernelNeeds needs;
  std::unordered_set<ptx::Index> variables;
  LIMEN_TRY(const std::vector<ptx::Index> functions, called_functions(kernel));
  // Sizes may be absurd: they stop at the largest number instead of beginning again at zero.
  auto place = [](uint32_t& bytes, uint64_t align, uint64_t size) {
    const uint64_t sum = (bytes + align - 1) / align * align + size;
    bytes = static_cast<uint32_t>(std::min<uint64_t>(sum, UINT32_MAX));
  };
  for (ptx::Index index : functions) {
    LIMEN_TRY(const BodyNeeds* body, body_needs(index));
    for (const auto& [align, bytes] : body->shared) place(needs.static_shared_bytes, align, bytes);
    for (const auto& [align, bytes] : body->local) place(needs.local_bytes, align, bytes);
    for (ptx::Index v : body->variables) {
      const ptx::Variable& variable = module_->variables[v];
      if (variable.space == ptx::Space::shared && variables.insert(v).second)
        place(needs.static_shared_bytes, std::max(variable.align, 1u), variable.bytes);
    }
    for (ptx::Index f : body->functions)
      needs.device_runtime |= !module_->functions[f].has_body &&
                              module_->functions[f].name.starts_with("__cudaCDP2");
  }
  if (needs.static_shared_bytes > most_static_shared)
    return Error{Code::invalid_ptx,
                 fmt::format("kernel '{}' uses too much shared memory: {} bytes, {} at most",
                             module_->functions[kernel].name, needs.static_shared_bytes,
                             most_static_shared),
                 "more is dynamic shared memory: .extern .shared, and the size at launch"};
  std::lock_guard lock(versions.mutex);
  versions.needs = needs;
  versions.needs_known = true;
  return needs;
}

}  // namespace limen::cpu
