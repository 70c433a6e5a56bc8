// The machine that code is made for, this processor or a named one of its architecture, and the
// object emitter.
#pragma once
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/simt/lower.h"

namespace limen::jit {

/// The target called `name` (Specialization::target), with the features the code generator asks
/// about; null for an unknown name.
const simt::Target* find_target(const std::string& name);

/// Sets what the code generator asks about, from this processor's features. By architecture, in
/// targets_x86_64.cpp and targets_aarch64.cpp, as the next.
void complete_host(const llvm::StringMap<bool>& features, simt::Target& target);
/// The targets that have names.
std::vector<simt::Target> named_targets();

/// A target machine for `target`; null with a message in `error` when LLVM has none.
std::unique_ptr<llvm::TargetMachine> make_machine(const simt::Target& target, uint32_t opt_level,
                                                  std::string& error);

/// Runs the fixed pass list.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, const simt::Target& target,
              uint32_t opt_level);

struct EmittedObject {
  std::vector<uint8_t> bytes;  ///< a relocatable ELF object; empty: failed
  uint64_t frame_bytes = 0;    ///< stack of all its functions together, each called once
};

EmittedObject emit_object(llvm::Module& module, llvm::TargetMachine& machine, std::string& error);

}  // namespace limen::jit
