// Where the machine flushes subnormals, LLVM must not compute with subnormal constants: it folds
// without flushing (vectors, intrinsics, choices between constants).
#pragma once
#include "compiler/simt/graph.h"

namespace limen::simt {

/// Registers that may hold a constant which, taken as f32, is subnormal. What f32 arithmetic makes
/// is not, and what memory holds is no constant: in compilers' output hardly a register is left.
Bits subnormal_constants(const Graph& graph);

}  // namespace limen::simt
