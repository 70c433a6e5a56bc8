// See sink_rare.h.
#include "compiler/jit/sink_rare.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace limen::jit {
namespace {

using namespace llvm;

constexpr size_t most_copies = 24;
constexpr uint64_t least_gain = 4;  ///< the block must run so many times as often as all copies

/// Integer work on vectors that can be done anywhere. Floating point stays where it was written:
/// its results depend on the rounding mode of the place.
bool is_movable(const Instruction& inst) {
  const auto* type = dyn_cast<VectorType>(inst.getType());
  if (!type || !type->getElementType()->isIntegerTy()) return false;
  switch (inst.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Mul:
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
    case Instruction::ICmp:
    case Instruction::Select:
    case Instruction::SExt:
    case Instruction::ZExt:
    case Instruction::Trunc:
    case Instruction::ShuffleVector:
    case Instruction::InsertElement:
      return true;
    default:
      return false;
  }
}

class Sinker {
 public:
  explicit Sinker(BlockFrequencyInfo& frequencies) : frequencies_(frequencies) {}

  bool run(Function& function) {
    bool changed = false;
    for (BasicBlock* block : post_order(&function))
      for (Instruction& inst : make_early_inc_range(reverse(*block)))
        if (is_movable(inst)) changed |= sink(inst);
    return changed;
  }

 private:
  bool sink(Instruction& inst) {
    BasicBlock* home = inst.getParent();
    // By block: before which instruction it is needed there first.
    MapVector<BasicBlock*, Instruction*> places;
    for (Use& use : inst.uses()) {
      auto* user = cast<Instruction>(use.getUser());
      auto* phi = dyn_cast<PHINode>(user);
      BasicBlock* block = phi ? phi->getIncomingBlock(use) : user->getParent();
      if (block == home) return false;
      Instruction* before = phi ? block->getTerminator() : user;
      Instruction*& place = places[block];
      if (!place || before->comesBefore(place)) place = before;
      if (places.size() > most_copies) return false;
    }
    if (places.empty()) return false;
    uint64_t often = 0;
    for (auto& [block, place] : places) often += frequencies_.getBlockFreq(block).getFrequency();
    if (often > frequencies_.getBlockFreq(home).getFrequency() / least_gain) return false;
    DenseMap<BasicBlock*, Instruction*> copies;
    for (auto& [block, place] : places) {
      Instruction* copy = inst.clone();
      copy->insertBefore(place);
      copies[block] = copy;
    }
    for (Use& use : make_early_inc_range(inst.uses())) {
      auto* user = cast<Instruction>(use.getUser());
      auto* phi = dyn_cast<PHINode>(user);
      use.set(copies[phi ? phi->getIncomingBlock(use) : user->getParent()]);
    }
    inst.eraseFromParent();
    return true;
  }

  BlockFrequencyInfo& frequencies_;
};

}  // namespace

llvm::PreservedAnalyses SinkRare::run(llvm::Function& function,
                                      llvm::FunctionAnalysisManager& analyses) {
  Sinker sinker(analyses.getResult<BlockFrequencyAnalysis>(function));
  if (!sinker.run(function)) return PreservedAnalyses::all();
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}

}  // namespace limen::jit
