// Ways around faults of LLVM 19's x86 code generator.
#pragma once
#include <llvm/IR/Module.h>

namespace limen::jit {

/// With AVX-512, LLVM 19 merges `mask ? bits of a and b by a constant or loaded c : a` into one masked
/// vpternlog, and where c is a memory operand some orders of a, b and c get another truth table. A
/// fence between the bit operation and the choice keeps them apart. Run after optimisation.
void keep_apart_masked_bit_selects(llvm::Module& module);

}  // namespace limen::jit
