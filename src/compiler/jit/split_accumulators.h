// Loops that carry more vectors than the machine has registers.
#pragma once
#include <llvm/IR/PassManager.h>

namespace limen::jit {

/// A register-blocked kernel (a thread computes 8 x 8 sums) carries 64 vectors round its inner
/// loop: each turn loads and stores every one. Where the loop is short (a known count of turns),
/// writes no memory and its sums do not depend on each other, it becomes several: the first
/// computes what is added, for all turns, into a small array; each of the others takes as many sums
/// as fit into registers through all turns. Every sum sees the same operations in the same order.
struct SplitAccumulators : llvm::PassInfoMixin<SplitAccumulators> {
  bool avx512;
  explicit SplitAccumulators(bool has_avx512) : avx512(has_avx512) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace limen::jit
