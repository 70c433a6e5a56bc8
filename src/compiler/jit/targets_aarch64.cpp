// The targets of AArch64: this processor with what it has, and the architecture's base (Armv8.0 with
// Advanced SIMD), tuned for no processor in particular. Nothing is asked of the code generator
// beyond plain vectors.
#include "compiler/jit/target.h"

namespace limen::jit {

void complete_host(const llvm::StringMap<bool>&, simt::Target&) {}

std::vector<simt::Target> named_targets() {
  simt::Target base;
  base.cpu = "generic";
  return {base};
}

}  // namespace limen::jit
