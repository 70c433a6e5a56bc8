// Approximations that need nothing of a kernel but its builder.
#pragma once
#include <llvm/IR/IRBuilder.h>

namespace limen::simt {

llvm::Value* ex2_flushed(llvm::IRBuilder<>& b, llvm::Value* x);

}  // namespace limen::simt
