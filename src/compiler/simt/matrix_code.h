// What the functions of matrix.h are made with: a builder of its own, counted loops, transposition
// and rows of fragments. No state beyond the function being made.
#pragma once
#include <functional>
#include <vector>

#include "compiler/simt/matrix.h"

namespace limen::simt {

class MatrixCode {
 protected:
  using Value = llvm::Value;
  using Rows = std::vector<Value*>;

  /// Begins `void name(parameters)`.
  MatrixCode(Unit& unit, const std::string& name, const std::vector<llvm::Type*>& parameters);

  llvm::Function* finish();
  void loop(uint32_t count, const std::function<void(Value* i32)>& body);
  /// Array in memory, zero or not yet written.
  Value* array(llvm::Type* element, uint32_t count, const llvm::Twine& name);
  Value* variable(llvm::Type* type, const llvm::Twine& name);
  Value* at(Value* base, llvm::Type* element, Value* index);
  Value* bytes(Value* base, Value* offset);
  Value* load(llvm::Type* t, Value* p, uint32_t align);
  void store(Value* v, Value* p, uint32_t align);
  Value* i32(uint32_t v) { return b_.getInt32(v); }
  Value* muladd(Value* a, uint32_t factor, Value* add);  ///< a * factor + add
  Value* join(Value* low, Value* high);
  Value* part(Value* v, uint32_t first, uint32_t count);
  /// lo: the first halves of both, element by element.
  Value* interleave(Value* a, Value* b, bool high);
  /// The elements of `rows` in column order, cut into vectors of the same length.
  Rows transpose(Rows rows);
  /// `transpose`, cut into vectors of 8.
  Rows columns_of_eight(const Rows& rows);

  /// Eight accumulators of one row, from or to the two registers (one for f16) of a block.
  Value* accumulator_row(Value* words, ptx::Type t, Value* block, Value* row);
  void set_accumulator_row(Value* words, ptx::Type t, Value* block, Value* row, Value* v);

  static llvm::FixedVectorType* vector_of(llvm::Type* t, uint32_t n) {
    return llvm::FixedVectorType::get(t, n);
  }
  llvm::Type* int_type(uint32_t bits) { return b_.getIntNTy(bits); }

  Unit& unit_;
  llvm::LLVMContext& llvm_;
  llvm::IRBuilder<> b_;
  llvm::Function* fn_;
  llvm::BasicBlock* entry_;
};

}  // namespace limen::simt
