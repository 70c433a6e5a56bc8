// Vectors that only rare code needs.
#pragma once
#include <llvm/IR/PassManager.h>

namespace limen::jit {

/// Computes integer vectors (masks, corrections of addresses) where they are used, if all uses lie in
/// blocks that run much less often than the one that computes them. LLVM moves an instruction with
/// one such use; a correction that each load of a stencil falls back to has many and would be
/// computed for every warp, and keep registers.
struct SinkRare : llvm::PassInfoMixin<SinkRare> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace limen::jit
