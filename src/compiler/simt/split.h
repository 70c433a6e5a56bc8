// Registers that hold several values in turn are split where that keeps an address scalar.
#pragma once
#include "compiler/ptx/ir.h"

namespace limen::simt {

/// Gives a value of an integer register a register of its own where its readers can see no other:
/// what later overwrites the old register lane by lane then leaves them alone. (nvcc's loops
/// unrolled with a remainder: the counter is one register before, in and behind both.)
void split_registers(ptx::Function& function);

}  // namespace limen::simt
