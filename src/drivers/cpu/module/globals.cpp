// Placing and initialising module variables. Variables of a program with an alignment above 512
// bytes do not exist: PTX allows at most 128 in practice. Thread rule: see the header.
#include "drivers/cpu/module/globals.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "drivers/cpu/context.h"

namespace limen::cpu {

namespace {

bool has_memory(const ptx::Variable& variable) {
  return (variable.space == ptx::Space::global || variable.space == ptx::Space::constant) &&
         variable.type != ptx::Type::texref && variable.type != ptx::Type::surfref &&
         variable.type != ptx::Type::samplerref;
}

/// A .texref, .surfref or .samplerref: a handle without memory.
bool is_reference(const ptx::Variable& variable) {
  return variable.space == ptx::Space::tex || variable.type == ptx::Type::texref ||
         variable.type == ptx::Type::surfref || variable.type == ptx::Type::samplerref;
}

bool is_constant(const ptx::Variable& variable) {
  return variable.space == ptx::Space::constant && !variable.managed;
}

/// Writes `value` as a relocation asks.
void write_reloc(uint8_t* at, const ptx::Reloc& reloc, uint64_t value) {
  value >>= reloc.shift;
  std::memcpy(at, &value, std::min<size_t>(reloc.bytes, sizeof value));
}

}  // namespace

ManagedVariables::~ManagedVariables() {
  for (uint64_t address : addresses_)
    if (address && !process_is_exiting()) driver().allocator_of(address)->release(address);
}

Result<void> ManagedVariables::make(const Program& program, Context& context) {
  std::lock_guard lock(mutex_);
  if (!addresses_.empty()) return {};
  const auto& variables = program.module().variables;
  addresses_.assign(variables.size(), 0);
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!variables[i].managed || !has_memory(variables[i])) continue;
    // Owner 0: it outlives any context.
    addresses_[i] = context.device.memory().allocate(std::max<uint64_t>(variables[i].bytes, 1),
                                                     MemoryKind::managed, 0, CU_MEM_ATTACH_GLOBAL);
    if (!addresses_[i])
      return Error{Code::out_of_memory,
                   fmt::format("no memory for managed variable {} of {} bytes", variables[i].name,
                               variables[i].bytes),
                   ""};
    auto* bytes = reinterpret_cast<uint8_t*>(addresses_[i]);
    std::memset(bytes, 0, variables[i].bytes);
    std::copy(variables[i].init.begin(), variables[i].init.end(), bytes);
  }
  return {};
}

Result<std::shared_ptr<Instance>> Instance::make(std::shared_ptr<Program> program, Context& context,
                                                 std::shared_ptr<ManagedVariables> managed) {
  std::shared_ptr<Instance> made(new Instance);
  made->program_ = std::move(program);
  made->managed_ = std::move(managed);
  made->owner_ = context.owner;
  LIMEN_CHECK(made->managed_->make(*made->program_, context));
  LIMEN_CHECK(made->place(context));
  LIMEN_CHECK(made->initialise());
  return made;
}

Instance::~Instance() {
  if (process_is_exiting()) return;
  const auto& variables = program_->module().variables;
  for (size_t i = 0; i < addresses_.size(); ++i) {
    void* pointer = addresses_[i];
    if (!pointer) continue;
    if (is_reference(variables[i])) {
      driver().textures.remove(reinterpret_cast<uint64_t>(pointer));
      continue;
    }
    // The context may have ended and taken the block with it; managed blocks are not ours.
    auto address = reinterpret_cast<uint64_t>(pointer);
    Allocator* memory = driver().allocator_of(address);
    Allocation block;
    if (memory->find(address, &block) && block.owner == owner_ &&
        block.kind == MemoryKind::module && block.base == address)
      memory->release(address);
  }
}

/// Constants lie one behind the other in a bank of 64 KiB as on the device, so that an index beyond
/// one table finds what it finds there: the next one, or zeros.
Result<uint64_t> Instance::place_constants(Context& context, std::vector<uint64_t>& offsets) const {
  constexpr uint64_t bank_bytes = 64 * 1024;
  const auto& variables = program_->module().variables;
  offsets.assign(variables.size(), 0);
  uint64_t end = 0;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!is_constant(variables[i])) continue;
    const uint64_t align = std::max<uint64_t>(variables[i].align, 1);
    offsets[i] = (end + align - 1) / align * align;
    end = offsets[i] + variables[i].bytes;
  }
  if (!end) return uint64_t{0};
  const uint64_t bytes = std::max(end, bank_bytes);
  const uint64_t bank = context.device.memory().allocate(bytes, MemoryKind::module, owner_);
  if (!bank)
    return Error{Code::out_of_memory, fmt::format("no memory for {} bytes of constants", end), ""};
  std::memset(reinterpret_cast<void*>(bank), 0, bytes);
  return bank;
}

Result<void> Instance::place(Context& context) {
  const auto& variables = program_->module().variables;
  addresses_.assign(variables.size(), nullptr);
  std::vector<uint64_t> offsets;
  LIMEN_TRY(uint64_t bank, place_constants(context, offsets));
  for (size_t i = 0; i < variables.size(); ++i) {
    const ptx::Variable& variable = variables[i];
    if (is_reference(variable)) {
      if (variable.type == ptx::Type::samplerref)
        return Error{Code::not_supported,
                     fmt::format("sampler reference '{}' (line {}): separate samplers are not "
                                 "built yet",
                                 variable.name, variable.line),
                     ""};
      // What kernels see is the handle; cuTexRefSet* gives it a meaning.
      engine::Texture unbound;
      if (variable.type == ptx::Type::surfref)
        unbound.kind = engine::Texture::Kind::unbound_surface;
      unbound.reference = true;
      const uint64_t handle = driver().textures.add(unbound);
      if (!handle)
        return Error{Code::out_of_memory, "no room for another texture reference", ""};
      addresses_[i] = reinterpret_cast<void*>(handle);
      continue;
    }
    if (!has_memory(variable)) continue;
    uint64_t address = managed_->address(static_cast<ptx::Index>(i));
    if (is_constant(variable)) {
      address = bank + offsets[i];
    } else if (!variable.managed) {
      address = context.device.memory().allocate(std::max<uint64_t>(variable.bytes, 1),
                                                 MemoryKind::module, owner_);
      if (!address)
        return Error{Code::out_of_memory,
                     fmt::format("no memory for module variable '{}' of {} bytes", variable.name,
                                 variable.bytes),
                     ""};
      std::memset(reinterpret_cast<void*>(address), 0, variable.bytes);
    }
    addresses_[i] = reinterpret_cast<void*>(address);
  }
  return {};
}

Result<void> Instance::initialise() {
  const auto& variables = program_->module().variables;
  for (size_t i = 0; i < variables.size(); ++i) {
    const ptx::Variable& variable = variables[i];
    if (!addresses_[i] || is_reference(variable)) continue;
    auto* bytes = static_cast<uint8_t*>(addresses_[i]);
    if (!variable.managed)
      std::copy(variable.init.begin(),
                variable.init.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(
                                            variable.init.size(), variable.bytes)),
                bytes);
    for (const ptx::Reloc& reloc : variable.relocs) {
      uint64_t value;
      if (reloc.kind == ptx::Operand::SymbolKind::function) {
        value = function_token(reloc.symbol);
      } else {
        value = address(reloc.symbol);
        if (!value)
          return Error{Code::not_supported,
                       fmt::format("the initialiser of '{}' (line {}) takes the address of '{}', "
                                   "which is not in global or constant memory",
                                   variable.name, variable.line, variables[reloc.symbol].name),
                       ""};
      }
      if (reloc.offset + reloc.bytes > variable.bytes)
        return Error{Code::invalid_ptx,
                     fmt::format("the initialiser of '{}' (line {}) is longer than the variable",
                                 variable.name, variable.line),
                     ""};
      write_reloc(bytes + reloc.offset, reloc, value + static_cast<uint64_t>(reloc.addend));
    }
  }
  return {};
}

}  // namespace limen::cpu
