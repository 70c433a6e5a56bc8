// Instance: a Program in one context: device memory for its globals and constants, initialised.
// Each variable is a block of its own, as on NVIDIA's driver, so that copies are checked against
// it. Managed variables belong to the program as a whole and are shared by its instances.
// Invariant: addresses() has one entry a ptx variable; 0 for those without memory of their own.
// Thread rule: immutable once made; freed by whoever drops the last reference.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "drivers/cpu/module/program.h"

namespace limen::cpu {

struct Context;

/// Memory of a program's managed variables; made with its first instance.
class ManagedVariables {
 public:
  ~ManagedVariables();
  /// Address of variable `index`, 0 if it is not managed. errors: out_of_memory.
  Result<void> make(const Program& program, Context& context);
  uint64_t address(ptx::Index index) const {
    return index < addresses_.size() ? addresses_[index] : 0;
  }

 private:
  std::mutex mutex_;
  std::vector<uint64_t> addresses_;
};

class Instance {
 public:
  /// errors: out_of_memory, not_supported (a variable in a space we have no memory for, named).
  static Result<std::shared_ptr<Instance>> make(std::shared_ptr<Program> program, Context& context,
                                                std::shared_ptr<ManagedVariables> managed);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  Program& program() const { return *program_; }
  uint32_t owner() const { return owner_; }
  void* const* addresses() const { return addresses_.data(); }
  uint64_t address(ptx::Index variable) const {
    return reinterpret_cast<uint64_t>(addresses_[variable]);
  }

 private:
  Instance() = default;
  Result<void> place(Context& context);
  Result<uint64_t> place_constants(Context& context, std::vector<uint64_t>& offsets) const;
  Result<void> initialise();

  std::shared_ptr<Program> program_;
  std::shared_ptr<ManagedVariables> managed_;
  uint32_t owner_ = 0;
  std::vector<void*> addresses_;
};

/// The value that a function's address has in kernels. Must agree with the compiler's indirect
/// calls.
inline uint64_t function_token(ptx::Index function) {
  return 0xF00D000000000000u | uint64_t{function} << 4;
}
/// The reverse; false: no function's.
inline bool function_of_token(uint64_t token, ptx::Index* function) {
  *function = static_cast<ptx::Index>(token >> 4);
  return function_token(*function) == token;
}

}  // namespace limen::cpu
