// See matrix_code.h.
#include "compiler/simt/matrix_code.h"

namespace limen::simt {

using namespace llvm;

MatrixCode::MatrixCode(Unit& unit, const std::string& name,
                       const std::vector<llvm::Type*>& parameters)
    : unit_(unit), llvm_(unit.module.getContext()), b_(llvm_) {
  auto* ft = FunctionType::get(llvm::Type::getVoidTy(llvm_), parameters, false);
  fn_ = llvm::Function::Create(ft, GlobalValue::InternalLinkage, name, unit.module);
  fn_->addFnAttr(Attribute::NoUnwind);
  // A kernel may hold hundreds of uses; code of thousands of instructions is made once.
  fn_->addFnAttr(Attribute::NoInline);
  fn_->addFnAttr("target-cpu", unit.target.cpu);
  fn_->addFnAttr("target-features", unit.target.features);
  fn_->addFnAttr("prefer-vector-width", unit.target.avx512 ? "512" : "256");
  fn_->addFnAttr("min-legal-vector-width", unit.target.avx512 ? "512" : "256");
  fn_->addFnAttr("no-builtins");
  entry_ = BasicBlock::Create(llvm_, "entry", fn_);
  b_.SetInsertPoint(BasicBlock::Create(llvm_, "body", fn_));
}

llvm::Function* MatrixCode::finish() {
  b_.CreateRetVoid();
  b_.SetInsertPoint(entry_);
  b_.CreateBr(entry_->getNextNode());
  return fn_;
}

void MatrixCode::loop(uint32_t count, const std::function<void(Value*)>& body) {
  if (count == 1) return body(i32(0));
  BasicBlock* before = b_.GetInsertBlock();
  BasicBlock* head = BasicBlock::Create(llvm_, "loop", fn_);
  BasicBlock* after = BasicBlock::Create(llvm_, "done", fn_);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  PHINode* i = b_.CreatePHI(b_.getInt32Ty(), 2);
  i->addIncoming(i32(0), before);
  body(i);
  Value* next = b_.CreateAdd(i, i32(1));
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpULT(next, i32(count)), head, after);
  b_.SetInsertPoint(after);
}

Value* MatrixCode::array(llvm::Type* element, uint32_t count, const Twine& name) {
  IRBuilder<> e(entry_);
  AllocaInst* a = e.CreateAlloca(ArrayType::get(element, count), nullptr, name);
  a->setAlignment(Align(64));
  return a;
}

Value* MatrixCode::variable(llvm::Type* type, const Twine& name) {
  IRBuilder<> e(entry_);
  AllocaInst* a = e.CreateAlloca(type, nullptr, name);
  b_.CreateStore(Constant::getNullValue(type), a);
  return a;
}

Value* MatrixCode::at(Value* base, llvm::Type* element, Value* index) {
  return b_.CreateInBoundsGEP(element, base, index);
}

Value* MatrixCode::bytes(Value* base, Value* offset) { return at(base, b_.getInt8Ty(), offset); }

Value* MatrixCode::load(llvm::Type* t, Value* p, uint32_t align) {
  return b_.CreateAlignedLoad(t, p, Align(align));
}

void MatrixCode::store(Value* v, Value* p, uint32_t align) {
  b_.CreateAlignedStore(v, p, Align(align));
}

Value* MatrixCode::muladd(Value* a, uint32_t factor, Value* add) {
  // Without wraparound, or every address is widened again.
  return b_.CreateAdd(b_.CreateMul(a, i32(factor), "", true, true), add, "", true, true);
}

Value* MatrixCode::join(Value* low, Value* high) {
  const auto n = static_cast<int>(cast<FixedVectorType>(low->getType())->getNumElements());
  std::vector<int> mask;
  for (int i = 0; i < 2 * n; ++i) mask.push_back(i);
  return b_.CreateShuffleVector(low, high, mask);
}

Value* MatrixCode::part(Value* v, uint32_t first, uint32_t count) {
  std::vector<int> mask;
  for (uint32_t i = 0; i < count; ++i) mask.push_back(static_cast<int>(first + i));
  return b_.CreateShuffleVector(v, mask);
}

Value* MatrixCode::interleave(Value* a, Value* b, bool high) {
  const auto n = static_cast<int>(cast<FixedVectorType>(a->getType())->getNumElements());
  std::vector<int> mask;
  for (int i = 0; i < n; ++i) mask.push_back((high ? n / 2 : 0) + i / 2 + (i % 2 ? n : 0));
  return b_.CreateShuffleVector(a, b, mask);
}

/// Interleaving the first half of all elements with the second turns the bits of an element's
/// index by one place; as many rounds as the row number has bits bring it to the low end.
MatrixCode::Rows MatrixCode::transpose(Rows rows) {
  const size_t half = rows.size() / 2;
  for (size_t round = rows.size(); round > 1; round /= 2) {
    Rows next;
    for (size_t i = 0; i < half; ++i) {
      next.push_back(interleave(rows[i], rows[i + half], false));
      next.push_back(interleave(rows[i], rows[i + half], true));
    }
    rows = std::move(next);
  }
  return rows;
}

MatrixCode::Rows MatrixCode::columns_of_eight(const Rows& rows) {
  Rows turned = transpose(rows), out;
  const uint32_t n = cast<FixedVectorType>(turned[0]->getType())->getNumElements();
  if (n < 8) {
    for (size_t i = 0; i + 1 < turned.size(); i += 2) out.push_back(join(turned[i], turned[i + 1]));
    return out;
  }
  for (Value* v : turned)
    for (uint32_t first = 0; first < n; first += 8) out.push_back(n == 8 ? v : part(v, first, 8));
  return out;
}

Value* MatrixCode::accumulator_row(Value* words, ptx::Type t, Value* block, Value* row) {
  if (t == ptx::Type::f16)
    return load(vector_of(int_type(16), 8),
                bytes(words, muladd(block, 128, muladd(row, 16, i32(0)))), 16);
  const uint32_t size = element_bits(t) / 8;
  llvm::Type* v = vector_of(int_type(8 * size), 4);
  Value* first = bytes(words, muladd(block, 64 * size, muladd(row, 4 * size, i32(0))));
  Value* even = load(v, first, 4 * size);
  Value* odd = load(v, bytes(first, i32(32 * size)), 4 * size);
  return join(interleave(even, odd, false), interleave(even, odd, true));
}

void MatrixCode::set_accumulator_row(Value* words, ptx::Type t, Value* block, Value* row,
                                     Value* v) {
  if (t == ptx::Type::f16)
    return store(v, bytes(words, muladd(block, 128, muladd(row, 16, i32(0)))), 16);
  const uint32_t size = element_bits(t) / 8;
  Value* first = bytes(words, muladd(block, 64 * size, muladd(row, 4 * size, i32(0))));
  store(b_.CreateShuffleVector(v, {0, 2, 4, 6}), first, 4 * size);
  store(b_.CreateShuffleVector(v, {1, 3, 5, 7}), bytes(first, i32(32 * size)), 4 * size);
}

}  // namespace limen::simt
