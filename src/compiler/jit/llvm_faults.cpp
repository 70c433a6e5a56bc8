// See llvm_faults.h.
#include "compiler/jit/llvm_faults.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace limen::jit {

namespace {

using namespace llvm;

const Value* strip(const Value* v) {
  while (const auto* cast = dyn_cast<BitCastInst>(v)) v = cast->getOperand(0);
  return v;
}

bool cuts_bits(const Value* v) {
  const auto* i = dyn_cast<Instruction>(strip(v));
  if (!i) return false;
  return i->getOpcode() == Instruction::And || i->isShift();
}

/// May become a three-operand bit operation on its way through the code generator.
bool may_select_bits(const Value* v) {
  const auto* i = dyn_cast<Instruction>(strip(v));
  if (!i) return false;
  if (const auto* call = dyn_cast<IntrinsicInst>(i))
    return call->getIntrinsicID() == Intrinsic::copysign;
  switch (i->getOpcode()) {
    case Instruction::Or:
      return true;
    case Instruction::Xor:
    case Instruction::Add:
      return cuts_bits(i->getOperand(0)) && cuts_bits(i->getOperand(1));
    default:
      return false;
  }
}

/// Fences know floating-point types only.
Value* fenced(IRBuilder<>& b, Value* v) {
  Type* type = v->getType();
  Type* element = type->getScalarSizeInBits() == 64 ? b.getDoubleTy() : b.getFloatTy();
  const unsigned bits = type->getPrimitiveSizeInBits().getFixedValue();
  Type* fp = FixedVectorType::get(element, bits / element->getPrimitiveSizeInBits());
  Value* f = b.CreateBitCast(v, fp);
  return b.CreateBitCast(b.CreateIntrinsic(Intrinsic::arithmetic_fence, {fp}, {f}), type);
}

}  // namespace

void keep_apart_masked_bit_selects(llvm::Module& module) {
  for (Function& function : module)
    for (Instruction& i : instructions(function)) {
      auto* select = dyn_cast<SelectInst>(&i);
      if (!select || !select->getCondition()->getType()->isVectorTy()) continue;
      const unsigned bits = select->getType()->getPrimitiveSizeInBits().getFixedValue();
      if (bits % 64 != 0 || select->getType()->getScalarSizeInBits() == 1) continue;
      IRBuilder<> b(select);
      for (unsigned arm : {1u, 2u})
        if (may_select_bits(select->getOperand(arm)))
          select->setOperand(arm, fenced(b, select->getOperand(arm)));
    }
}

void compare_halves_as_floats(llvm::Module& module) {
  for (Function& function : module)
    for (Instruction& i : instructions(function)) {
      auto* compare = dyn_cast<FCmpInst>(&i);
      if (!compare || !compare->getOperand(0)->getType()->isVectorTy() ||
          !compare->getOperand(0)->getType()->getScalarType()->isHalfTy())
        continue;
      IRBuilder<> b(compare);
      auto* halves = cast<FixedVectorType>(compare->getOperand(0)->getType());
      Type* floats = FixedVectorType::get(b.getFloatTy(), halves->getNumElements());
      Value* x = b.CreateFPExt(compare->getOperand(0), floats);
      Value* y = b.CreateFPExt(compare->getOperand(1), floats);
      compare->setOperand(0, x);
      compare->setOperand(1, y);
    }
}

}  // namespace limen::jit
