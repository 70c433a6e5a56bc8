// See split_accumulators.h.
#include "compiler/jit/split_accumulators.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace limen::jit {
namespace {

using namespace llvm;

constexpr unsigned most_turns = 64;
constexpr uint64_t most_bytes =
    8 * 1024;  ///< of the arrays: they live on the stack, in the first-level cache

/// One sum: its phi and the instructions that lead from the phi to the next turn's value.
struct Sum {
  PHINode* phi;
  SmallSetVector<Instruction*, 4> chain;  ///< in the block's order
  Value* next;
};

class Splitter {
 public:
  Splitter(BasicBlock& body, unsigned turns, bool avx512)
      : body_(body), layout_(body.getModule()->getDataLayout()), turns_(turns), avx512_(avx512) {}

  bool run() {
    if (!find_ends() || !find_sums() || !find_inputs() || !worth()) return false;
    store_inputs();
    BasicBlock* before = &body_;
    const uint64_t room = avx512_ ? 24 : 12;
    for (size_t i = 0; i < sums_.size();) {
      uint64_t used = 0;
      size_t end = i;
      while (end < sums_.size() && (end == i || used + registers(sums_[end].phi) <= room))
        used += registers(sums_[end++].phi);
      before = make_loop(before, ArrayRef(sums_).slice(i, end - i));
      i = end;
    }
    remove_sums();
    return true;
  }

 private:
  uint64_t registers(const Value* v) const {
    const uint64_t bits = layout_.getTypeSizeInBits(v->getType()).getFixedValue();
    const uint64_t own = avx512_ ? 512 : 256;
    return (bits + own - 1) / own;
  }

  bool find_ends() {
    auto* branch = dyn_cast<BranchInst>(body_.getTerminator());
    if (!branch || !branch->isConditional()) return false;
    for (BasicBlock* next : branch->successors())
      if (next != &body_) exit_ = next;
    for (BasicBlock* from : predecessors(&body_))
      if (from != &body_) {
        if (entry_) return false;
        entry_ = from;
      }
    for (Instruction& i : body_)
      if (i.mayWriteToMemory() || (i.mayReadFromMemory() && !is_plain_load(i))) return false;
    return exit_ && entry_;
  }

  static bool is_plain_load(const Instruction& i) {
    const auto* load = dyn_cast<LoadInst>(&i);
    return load ? load->isSimple() : isa<IntrinsicInst>(i);
  }

  bool in_body(const Value* v) const {
    const auto* i = dyn_cast<Instruction>(v);
    return i && i->getParent() == &body_;
  }

  /// Vectors whose way round the loop touches no other phi and is read by nothing else in it.
  bool find_sums() {
    for (PHINode& phi : body_.phis()) {
      if (!phi.getType()->isVectorTy() || registers(&phi) == 0) continue;
      SmallSetVector<Instruction*, 4> members;
      members.insert(&phi);
      bool alone = true;
      for (size_t at = 0; at < members.size() && alone; ++at) {
        Instruction* i = members[at];
        for (User* user : i->users()) {
          auto* u = cast<Instruction>(user);
          if (u == &phi) continue;
          if (u->getParent() == &body_) {
            alone &= !isa<PHINode>(u) && !u->mayReadFromMemory() && !u->isTerminator() &&
                     members.size() < 64;
            members.insert(u);
          } else {
            alone &= i == phi.getIncomingValueForBlock(&body_);
          }
        }
      }
      Value* next = phi.getIncomingValueForBlock(&body_);
      if (!alone || members.size() < 2 || !members.contains(dyn_cast<Instruction>(next))) continue;
      Sum sum{&phi, {}, next};
      for (Instruction& i : body_)
        if (&i != &phi && members.contains(&i)) sum.chain.insert(&i);
      sums_.push_back(sum);
    }
    SmallPtrSet<Instruction*, 16> seen;
    for (const Sum& sum : sums_)
      for (Instruction* i : sum.chain)
        if (!seen.insert(i).second) return false;  // two sums meet
    return !sums_.empty();
  }

  /// What a lane-wise copy of one scalar was made of; null for anything else.
  static Value* splat_of(Value* v) {
    Value* scalar;
    ArrayRef<int> mask;
    auto* shuffle = dyn_cast<ShuffleVectorInst>(v);
    if (shuffle && shuffle->isZeroEltSplat() &&
        PatternMatch::match(
            shuffle->getOperand(0),
            PatternMatch::m_InsertElt(PatternMatch::m_Value(), PatternMatch::m_Value(scalar),
                                      PatternMatch::m_ZeroInt())))
      return scalar;
    return nullptr;
  }

  bool find_inputs() {
    for (const Sum& sum : sums_)
      for (Instruction* i : sum.chain)
        for (Value* operand : i->operands()) {
          if (!in_body(operand) || operand == sum.phi ||
              sum.chain.contains(cast<Instruction>(operand)))
            continue;
          Value* kept = splat_of(operand);
          if (!kept || !in_body(kept)) kept = operand;
          if (kept->getType()->getScalarSizeInBits() % 8 != 0) return false;  // masks
          kept_[operand] = kept;
          inputs_.insert({kept, nullptr});
        }
    return true;
  }

  bool worth() const {
    uint64_t carried = 0, stored = 0, bytes = 0;
    for (const Sum& sum : sums_) carried += registers(sum.phi);
    for (const auto& [input, room] : inputs_) {
      stored += registers(input);
      bytes += layout_.getTypeAllocSize(input->getType()).getFixedValue();
    }
    return carried > (avx512_ ? 28 : 14) && stored < carried && bytes * turns_ <= most_bytes;
  }

  void store_inputs() {
    IRBuilder<> top(&body_.getParent()->getEntryBlock().front());
    IRBuilder<> b(&body_, body_.getFirstNonPHIIt());
    llvm::Type* i64 = b.getInt64Ty();
    PHINode* turn = PHINode::Create(i64, 2, "turn", body_.begin());
    turn->addIncoming(b.getInt64(0), entry_);
    b.SetInsertPoint(body_.getTerminator());
    turn->addIncoming(b.CreateAdd(turn, b.getInt64(1)), &body_);
    for (auto& [input, room] : inputs_) {
      room = top.CreateAlloca(ArrayType::get(input->getType(), turns_), nullptr, "turns");
      room->setAlignment(Align(64));
      b.CreateStore(input, place(b, input, room, turn));
    }
  }

  Value* place(IRBuilder<>& b, Value* input, AllocaInst* room, Value* turn) const {
    return b.CreateInBoundsGEP(input->getType(), room, {turn});
  }

  /// The loop of some sums, after `before`, which led to the exit.
  BasicBlock* make_loop(BasicBlock* before, ArrayRef<Sum> sums) {
    BasicBlock* loop = BasicBlock::Create(body_.getContext(), "sums", body_.getParent(), exit_);
    before->getTerminator()->replaceSuccessorWith(exit_, loop);
    exit_->replacePhiUsesWith(before, loop);
    IRBuilder<> b(loop);
    PHINode* turn = b.CreatePHI(b.getInt64Ty(), 2, "turn");
    turn->addIncoming(b.getInt64(0), before);
    ValueToValueMapTy map;
    SmallVector<PHINode*> phis;
    for (const Sum& sum : sums) {
      PHINode* phi = b.CreatePHI(sum.phi->getType(), 2);
      phi->addIncoming(sum.phi->getIncomingValueForBlock(entry_), before);
      map[sum.phi] = phi;
      phis.push_back(phi);
    }
    for (const Sum& sum : sums)
      for (Instruction* i : sum.chain) {
        for (Value* operand : i->operands())
          if (auto known = kept_.find(operand); known != kept_.end() && !map.count(operand))
            map[operand] = read(b, operand, known->second, turn);
        Instruction* copy = i->clone();
        RemapInstruction(copy, map, RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
        b.Insert(copy);
        map[i] = copy;
      }
    Value* next = b.CreateAdd(turn, b.getInt64(1));
    turn->addIncoming(next, loop);
    for (size_t i = 0; i < sums.size(); ++i) {
      Value* value = map[sums[i].next];
      phis[i]->addIncoming(value, loop);
      results_.push_back({sums[i].next, value});
    }
    b.CreateCondBr(b.CreateICmpEQ(next, b.getInt64(turns_)), exit_, loop);
    return loop;
  }

  Value* read(IRBuilder<>& b, Value* operand, Value* kept, Value* turn) {
    Value* value = b.CreateLoad(kept->getType(), place(b, kept, inputs_.find(kept)->second, turn));
    if (kept == operand) return value;
    return b.CreateVectorSplat(cast<FixedVectorType>(operand->getType())->getNumElements(), value);
  }

  void remove_sums() {
    for (auto& [old, value] : results_)
      old->replaceUsesWithIf(value, [&](Use& use) {
        auto* user = cast<Instruction>(use.getUser());
        return user->getParent() != &body_;
      });
    for (const Sum& sum : sums_) {
      sum.phi->replaceAllUsesWith(PoisonValue::get(sum.phi->getType()));
      for (size_t i = sum.chain.size(); i-- > 0;) {
        Instruction* dead = sum.chain[i];
        dead->replaceAllUsesWith(PoisonValue::get(dead->getType()));
        dead->eraseFromParent();
      }
      sum.phi->eraseFromParent();
    }
  }

  BasicBlock& body_;
  const DataLayout& layout_;
  unsigned turns_;
  bool avx512_;
  BasicBlock* exit_ = nullptr;
  BasicBlock* entry_ = nullptr;
  std::vector<Sum> sums_;
  DenseMap<Value*, Value*> kept_;          ///< operand of a chain: what is stored of it
  MapVector<Value*, AllocaInst*> inputs_;  ///< what is stored: where
  std::vector<std::pair<Value*, Value*>> results_;
};

}  // namespace

PreservedAnalyses SplitAccumulators::run(Function& function, FunctionAnalysisManager& analyses) {
  LoopInfo& loops = analyses.getResult<LoopAnalysis>(function);
  ScalarEvolution& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  std::vector<std::pair<BasicBlock*, unsigned>> found;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->getNumBlocks() != 1) continue;
    const unsigned turns = evolution.getSmallConstantTripCount(loop);
    if (turns >= 4 && turns <= most_turns) found.push_back({loop->getHeader(), turns});
  }
  bool changed = false;
  for (auto [body, turns] : found) changed |= Splitter(*body, turns, avx512).run();
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

}  // namespace limen::jit
