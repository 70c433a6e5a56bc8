// Functions that move matrices between memory and fragments: wmma.load, wmma.store, ldmatrix,
// stmatrix and movmatrix, and the words that the lane strategy gathers. See matrix.h.
#include "compiler/simt/matrix_code.h"

namespace limen::simt {

using namespace llvm;

namespace {

class MemoryCode : MatrixCode {
 public:
  MemoryCode(Unit& unit, const std::string& name, const std::vector<llvm::Type*>& parameters)
      : MatrixCode(unit, name, parameters) {}

  llvm::Function* fragment(const FragmentForm& f) {
    if (f.accumulator)
      accumulators(f);
    else
      multiplicand(f);
    return finish();
  }

  llvm::Function* rows(uint32_t matrices, bool transposed, bool is_store) {
    Value *words = fn_->getArg(0), *addresses = fn_->getArg(1);
    llvm::Type* row = vector_of(int_type(16), 8);
    loop(matrices, [&](Value* matrix) {
      Value* own = bytes(words, b_.CreateMul(matrix, i32(128)));
      auto pointer = [&](uint32_t r) {
        Value* address =
            load(b_.getInt64Ty(), at(addresses, b_.getInt64Ty(), muladd(matrix, 8, i32(r))), 8);
        return b_.CreateIntToPtr(address, b_.getPtrTy());
      };
      Rows values;
      for (uint32_t r = 0; r < 8; ++r)
        values.push_back(is_store ? load(row, bytes(own, i32(16 * r)), 16)
                                  : load(row, pointer(r), 1));
      if (transposed) values = transpose(values);
      for (uint32_t r = 0; r < 8; ++r) {
        if (is_store)
          store(values[r], pointer(r), 1);
        else
          store(values[r], bytes(own, i32(16 * r)), 16);
      }
    });
    return finish();
  }

  llvm::Function* turn() {
    Rows values;
    for (uint32_t r = 0; r < 8; ++r)
      values.push_back(load(vector_of(int_type(16), 8), bytes(fn_->getArg(1), i32(16 * r)), 16));
    values = transpose(values);
    for (uint32_t r = 0; r < 8; ++r) store(values[r], bytes(fn_->getArg(0), i32(16 * r)), 16);
    return finish();
  }

  llvm::Function* spread(uint32_t word_bytes) {
    llvm::Type* word = int_type(8 * word_bytes);
    loop(32, [&](Value* lane) {
      Value* v = load(b_.getInt64Ty(), at(fn_->getArg(1), b_.getInt64Ty(), lane), 8);
      store(b_.CreateTrunc(v, word), at(fn_->getArg(0), word, lane), word_bytes);
    });
    return finish();
  }

 private:
  /// Address of an element, by its place along and across the leading dimension.
  Value* element(Value* line, Value* place, uint32_t bits) {
    Value* index = b_.CreateAdd(b_.CreateMul(b_.CreateZExt(line, b_.getInt64Ty()), fn_->getArg(2)),
                                b_.CreateZExt(place, b_.getInt64Ty()));
    Value* offset = bits >= 8 ? b_.CreateMul(index, b_.getInt64(bits / 8))
                              : b_.CreateLShr(index, bits == 4 ? 1 : 3);
    return b_.CreateIntToPtr(b_.CreateAdd(fn_->getArg(1), offset), b_.getPtrTy());
  }

  void multiplicand(const FragmentForm& f) {
    const uint32_t bits = element_bits(f.type), row_bytes = bits == 64 ? 32 : 16;
    const uint32_t length = row_bytes * 8 / bits;
    const uint32_t row_blocks = f.rows / 8, k_blocks = f.columns / length;
    const uint32_t used = row_blocks * k_blocks;
    Value* words = fn_->getArg(0);
    loop(f.registers, [&](Value* reg) {
      // f16 fragments of small matrices have registers to spare: they repeat the first ones.
      Value* source = used < f.registers ? b_.CreateURem(reg, i32(used)) : reg;
      const uint32_t inner = f.rows_first ? row_blocks : k_blocks;
      Value* fast = b_.CreateURem(source, i32(inner));
      Value* slow = b_.CreateUDiv(source, i32(inner));
      Value* row0 = b_.CreateMul(f.rows_first ? fast : slow, i32(8));
      Value* k0 = b_.CreateMul(f.rows_first ? slow : fast, i32(length));
      Value* own = bytes(words, b_.CreateMul(reg, i32(8 * row_bytes)));
      if (!f.across) {
        llvm::Type* t = vector_of(int_type(8), row_bytes);
        loop(8, [&](Value* r) {
          Value* v = load(t, element(b_.CreateAdd(row0, r), k0, bits), 1);
          store(v, bytes(own, b_.CreateMul(r, i32(row_bytes))), 16);
        });
        return;
      }
      Rows lines;
      for (uint32_t k = 0; k < length; ++k)
        lines.push_back(
            load(vector_of(int_type(bits), 8), element(b_.CreateAdd(k0, i32(k)), row0, bits), 1));
      // Vectors of eight in row order: a core matrix as it lies in the words.
      Rows turned = transpose(lines);
      for (uint32_t i = 0; i < turned.size(); ++i) store(turned[i], bytes(own, i32(i * bits)), 4);
    });
  }

  void accumulators(const FragmentForm& f) {
    const uint32_t bits = element_bits(f.type);
    const uint32_t row_blocks = f.rows / 8;
    Value* words = fn_->getArg(0);
    llvm::Type* eight = vector_of(int_type(bits), 8);
    loop(row_blocks * (f.columns / 8), [&](Value* block) {
      Value* row0 = b_.CreateMul(b_.CreateURem(block, i32(row_blocks)), i32(8));
      Value* column0 = b_.CreateMul(b_.CreateUDiv(block, i32(row_blocks)), i32(8));
      auto line = [&](uint32_t i) {
        return f.across ? element(b_.CreateAdd(column0, i32(i)), row0, bits)
                        : element(b_.CreateAdd(row0, i32(i)), column0, bits);
      };
      Rows v;
      for (uint32_t i = 0; i < 8; ++i)
        v.push_back(f.store ? accumulator_row(words, f.type, block, i32(i))
                            : load(eight, line(i), 1));
      if (f.across) v = transpose(v);
      for (uint32_t i = 0; i < 8; ++i) {
        if (f.store)
          store(v[i], line(i), 1);
        else
          set_accumulator_row(words, f.type, block, i32(i), v[i]);
      }
    });
  }
};

}  // namespace

llvm::Function* fragment_function(Unit& unit, const FragmentForm& f) {
  const std::string name = "wmma." + f.key;
  if (llvm::Function* done = unit.module.getFunction(name)) return done;
  LLVMContext& c = unit.module.getContext();
  auto* p = PointerType::get(c, 0);
  auto* i64 = llvm::Type::getInt64Ty(c);
  return MemoryCode(unit, name, {p, i64, i64}).fragment(f);
}

llvm::Function* rows_function(Unit& unit, uint32_t matrices, bool transposed, bool store) {
  const std::string name = std::string(store ? "stmatrix.x" : "ldmatrix.x") +
                           std::to_string(matrices) + (transposed ? ".trans" : "");
  if (llvm::Function* done = unit.module.getFunction(name)) return done;
  auto* p = PointerType::get(unit.module.getContext(), 0);
  return MemoryCode(unit, name, {p, p}).rows(matrices, transposed, store);
}

llvm::Function* transpose_function(Unit& unit) {
  if (llvm::Function* done = unit.module.getFunction("movmatrix")) return done;
  auto* p = PointerType::get(unit.module.getContext(), 0);
  return MemoryCode(unit, "movmatrix", {p, p}).turn();
}

llvm::Function* spread_function(Unit& unit, uint32_t word_bytes) {
  const std::string name = "spread" + std::to_string(word_bytes);
  if (llvm::Function* done = unit.module.getFunction(name)) return done;
  auto* p = PointerType::get(unit.module.getContext(), 0);
  return MemoryCode(unit, name, {p, p}).spread(word_bytes);
}

}  // namespace limen::simt
