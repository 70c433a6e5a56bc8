// The machine code is made for: LLVM's view of this processor and the object emitter.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/simt/lower.h"

namespace limen::jit {

/// This processor, with the features the code generator asks about.
const simt::Target& host_target();

/// A target machine for `target`; null with a message in `error` when LLVM has none.
std::unique_ptr<llvm::TargetMachine> make_machine(const simt::Target& target, uint32_t opt_level,
                                                  std::string& error);

/// Runs the fixed pass list.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, uint32_t opt_level);

struct EmittedObject {
  std::vector<uint8_t> bytes;  ///< a relocatable ELF object; empty: failed
  uint64_t frame_bytes = 0;    ///< stack of all its functions together, each called once
};

EmittedObject emit_object(llvm::Module& module, llvm::TargetMachine& machine, std::string& error);

}  // namespace limen::jit
