// Ways around faults of LLVM 19's x86 code generator.
#pragma once
#include <llvm/IR/Module.h>

namespace limen::jit {

/// With AVX-512, LLVM 19 merges `mask ? bits of a and b by a constant or loaded c : a` into one masked
/// vpternlog, and where c is a memory operand some orders of a, b and c get another truth table. A
/// fence between the bit operation and the choice keeps them apart. Run after optimisation.
void keep_apart_masked_bit_selects(llvm::Module& module);

/// With AVX512-FP16, LLVM 19 takes `a < b` and `a > b` of halves under one mask for the same: it swaps
/// the operands of a masked vcmpph to look for an equal one, and not the predicate. As floats halves
/// compare the same (subnormals too, which are normal there), by other instructions. Run after
/// optimisation.
void compare_halves_as_floats(llvm::Module& module);

}  // namespace limen::jit
