// The functions that multiply. Fragments become matrices in memory (A by rows, B by rows of k),
// eight columns of the result are one vector. Integers, b1 and f64 are exact; the sum of
// floating-point products is the device's own, see TensorModel, narrow_sum and wide_sum.
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/simt/matrix_code.h"

namespace limen::simt {

using namespace llvm;
using PType = ptx::Type;

namespace {

bool is_signed_element(PType t) { return t == PType::s8 || t == PType::s4; }
/// f16 and what fits it.
bool is_narrow(PType t) { return t != PType::bf16 && t != PType::tf32; }
constexpr int narrow_least = -14;  ///< exponent of f16's subnormals

class MultiplyCode : MatrixCode {
 public:
  MultiplyCode(Unit& unit, const MatrixForm& form, const std::vector<llvm::Type*>& parameters)
      : MatrixCode(unit, form.key, parameters), f_(form) {
    d_ = fn_->getArg(0), a_ = fn_->getArg(1), b_words_ = fn_->getArg(2), c_ = fn_->getArg(3);
    eight_i32_ = vector_of(b_.getInt32Ty(), 8);
    eight_f32_ = vector_of(b_.getFloatTy(), 8);
    eight_f64_ = vector_of(b_.getDoubleTy(), 8);
    eight_i64_ = vector_of(b_.getInt64Ty(), 8);
  }

  llvm::Function* make() {
    if (f_.sparse) read_metadata();
    switch (f_.kind) {
      case MatrixForm::Kind::floating:
        floating();
        break;
      case MatrixForm::Kind::integer:
        integer();
        break;
      case MatrixForm::Kind::bits:
        bits();
        break;
      case MatrixForm::Kind::f64:
        float64();
        break;
      case MatrixForm::Kind::quads:
        quads();
        break;
    }
    return finish();
  }

 private:
  struct Decoded {
    Value* value;  ///< f32: the number (types that fit f32 and inf, NaN), else 1.m with its sign
    Value* exponent;
    Value* special;  ///< inf or NaN
  };

  // -- fragments to matrices
  Value* row_of(Value* words, Value* reg, Value* row, uint32_t element);
  void read_a(const std::function<void(Value* at, Value* raw)>& put);
  void read_b(const std::function<void(Value* at, Value* raw)>& put);
  void read_metadata();
  Value* b_row(Value* row, Value* kept);
  void each_row(const std::function<void(Value* row, Value* i, Value* block, Value* column)>& body);

  // -- kinds
  void floating();
  void integer();
  void bits();
  void float64();
  void quads();

  // -- floating point
  Value* constant(llvm::Type* t, double v) { return ConstantFP::get(t, v); }
  Value* to_f32(Value* raw, PType t);
  Value* is_zero(Value* raw, PType t);
  Decoded decode(Value* f32, Value* zero, bool whole, int least);
  Value* is_special(Value* f32);
  Value* largest_exponent(const std::vector<uint32_t>& step, Value* i, Value* column);
  Value* product(Value* i, Value* k, Value* b_row, Value* column);
  Value* narrow_sum(Value* addend, bool f16, const std::vector<uint32_t>& step, Value* i,
                    Value* column);
  Value* wide_sum(Value* addend, const std::vector<uint32_t>& step, Value* i, Value* column);
  Value* cut(Value* r);
  Value* round_to_f32(Value* r);
  Value* round_to_f16(Value* r);
  Value* special_sum(Value* addend, const std::vector<uint32_t>& step, Value* i, Value* column);
  Value* with_specials(Value* sum, Value* addend, bool f16, const std::vector<uint32_t>& step,
                       Value* i, Value* column);
  Value* add_last(Value* c, Value* sum);
  Value* f16_of(Value* f32);
  Value* power_of_two(Value* exponent);

  const MatrixForm& f_;
  Value *d_, *a_, *b_words_, *c_;
  llvm::Type *eight_i32_, *eight_f32_, *eight_f64_, *eight_i64_;
  Value *ma_ = nullptr, *mb_ = nullptr;  ///< A [m][kept], B [k][n]
  Value *ea_ = nullptr, *eb_ = nullptr;  ///< their exponents
  Value* place_ = nullptr;               ///< sparse: k of each kept element
  Value* any_special_ = nullptr;
};

// -- fragments to matrices
// ---------------------------------------------------------------------------------

/// One row of a core matrix as elements; 4-bit ones are widened to bytes.
Value* MultiplyCode::row_of(Value* words, Value* reg, Value* row, uint32_t element) {
  const uint32_t row_bytes = element == 64 ? 32 : 16;
  Value* p = bytes(words, muladd(reg, 8 * row_bytes, b_.CreateMul(row, i32(row_bytes))));
  if (element != 4) return load(vector_of(int_type(element), row_bytes * 8 / element), p, 16);
  Value* v = load(vector_of(int_type(8), 16), p, 16);
  const bool is_signed = is_signed_element(words == a_ ? f_.a : f_.b);
  Value* low = is_signed ? b_.CreateAShr(b_.CreateShl(v, 4), 4) : b_.CreateAnd(v, 15);
  Value* high = is_signed ? b_.CreateAShr(v, 4) : b_.CreateLShr(v, 4);
  return join(interleave(low, high, false), interleave(low, high, true));
}

/// Gives every row of every register of A with its place in [m][kept].
void MultiplyCode::read_a(const std::function<void(Value*, Value*)>& put) {
  const uint32_t element = element_bits(f_.a), length = (element == 64 ? 256 : 128) / element;
  loop(f_.row_blocks() * f_.kept() / length, [&](Value* reg) {
    Value* row0 = b_.CreateMul(b_.CreateURem(reg, i32(f_.row_blocks())), i32(8));
    Value* k0 = b_.CreateMul(b_.CreateUDiv(reg, i32(f_.row_blocks())), i32(length));
    loop(8, [&](Value* r) {
      put(muladd(b_.CreateAdd(row0, r), f_.kept(), k0), row_of(a_, reg, r, element));
    });
  });
}

/// Gives eight columns at a time of every row of B, with their place in [k][n].
void MultiplyCode::read_b(const std::function<void(Value*, Value*)>& put) {
  const uint32_t element = element_bits(f_.b), length = (element == 64 ? 256 : 128) / element;
  const uint32_t k_blocks = f_.k / length;
  loop(k_blocks * f_.column_blocks(), [&](Value* reg) {
    Value* k0 = b_.CreateMul(b_.CreateURem(reg, i32(k_blocks)), i32(length));
    Value* n0 = b_.CreateMul(b_.CreateUDiv(reg, i32(k_blocks)), i32(8));
    Rows rows;
    for (uint32_t n = 0; n < 8; ++n) rows.push_back(row_of(b_words_, reg, i32(n), element));
    Rows columns = columns_of_eight(rows);
    for (uint32_t k = 0; k < length; ++k)
      put(muladd(b_.CreateAdd(k0, i32(k)), f_.n, n0), columns[k]);
  });
}

/// Which k each kept element of A stands for. Metadata words are held by the lanes that the
/// selector names; source: PTX ISA 9.0 #warp-level-matrix-instructions-for-sparse-mma, figures of
/// metadata.
void MultiplyCode::read_metadata() {
  const uint32_t element = element_bits(f_.a), kept = f_.kept();
  const uint32_t bits_an_element = element == 32 ? 4 : element == 4 ? 1 : 2;
  const uint32_t row_bits = kept * bits_an_element;
  place_ = array(b_.getInt32Ty(), f_.m * kept, "place");
  Value* words = fn_->getArg(4);
  // Rows g and g + 8 share words of 16 bits each, or have words of their own.
  const bool halves = element >= 16;
  loop(f_.m, [&](Value* i) {
    Value* g = b_.CreateAnd(i, 7);
    Value* lower = b_.CreateLShr(i, 3);
    loop(kept, [&](Value* kk) {
      Value* bit = element == 4    ? b_.CreateMul(b_.CreateLShr(kk, 1), i32(2))
                   : element == 32 ? muladd(kk, 4, i32(1))
                                   : b_.CreateMul(kk, i32(2));
      const uint32_t word_bits = halves ? 16 : 32;
      Value* word = b_.CreateUDiv(bit, i32(word_bits));
      Value* shift = b_.CreateURem(bit, i32(word_bits));
      const uint32_t lanes = std::max(1u, row_bits / word_bits);
      Value* lane = muladd(g, 4, i32(0));
      if (halves) {
        lane = b_.CreateAdd(lane, b_.CreateAdd(word, i32(f_.selector * lanes)));
        shift = b_.CreateAdd(shift, b_.CreateMul(lower, i32(16)));
      } else {
        lane =
            b_.CreateAdd(lane, b_.CreateAdd(muladd(word, 2, lower), i32(2 * f_.selector * lanes)));
      }
      Value* v = load(b_.getInt32Ty(), at(words, b_.getInt32Ty(), lane), 4);
      Value* index = b_.CreateAnd(b_.CreateLShr(v, shift), element == 32 ? 1 : 3);
      Value* k;
      if (element == 32)
        k = muladd(kk, 2, index);
      else if (element == 4)
        k = b_.CreateAdd(muladd(b_.CreateLShr(kk, 2), 8, b_.CreateMul(index, i32(2))),
                         b_.CreateAnd(kk, 1));
      else
        k = muladd(b_.CreateLShr(kk, 1), 4, index);
      store(k, at(place_, b_.getInt32Ty(), muladd(i, kept, kk)), 4);
    });
  });
}

/// Row of B that belongs to the kept element: an offset into [k][n].
Value* MultiplyCode::b_row(Value* i, Value* kept) {
  if (!f_.sparse) return b_.CreateMul(kept, i32(f_.n));
  Value* p = at(place_, b_.getInt32Ty(), muladd(i, f_.kept(), kept));
  return b_.CreateMul(load(b_.getInt32Ty(), p, 4), i32(f_.n));
}

/// For every row and every eight columns: `row` in its block, `i` in the matrix.
void MultiplyCode::each_row(const std::function<void(Value*, Value*, Value*, Value*)>& body) {
  loop(f_.m, [&](Value* i) {
    Value* row = b_.CreateAnd(i, 7);
    Value* row_block = b_.CreateLShr(i, 3);
    loop(f_.column_blocks(), [&](Value* jb) {
      body(row, i, muladd(jb, f_.row_blocks(), row_block), b_.CreateMul(jb, i32(8)));
    });
  });
}

// -- exact kinds
// -------------------------------------------------------------------------------------------

void MultiplyCode::integer() {
  llvm::Type* t = b_.getInt32Ty();
  ma_ = array(t, f_.m * f_.kept(), "a");
  mb_ = array(t, f_.k * f_.n, "b");
  auto widen = [&](Value* raw, PType element) {
    const uint32_t n = cast<FixedVectorType>(raw->getType())->getNumElements();
    return is_signed_element(element) ? b_.CreateSExt(raw, vector_of(t, n))
                                      : b_.CreateZExt(raw, vector_of(t, n));
  };
  read_a([&](Value* place, Value* raw) { store(widen(raw, f_.a), at(ma_, t, place), 16); });
  read_b([&](Value* place, Value* raw) { store(widen(raw, f_.b), at(mb_, t, place), 32); });
  each_row([&](Value* row, Value* i, Value* block, Value* column) {
    Value* c = accumulator_row(c_, f_.c, block, row);
    Value* sum = Constant::getNullValue(eight_i32_);
    for (uint32_t k = 0; k < f_.kept(); ++k) {
      Value* a = load(t, at(ma_, t, muladd(i, f_.kept(), i32(k))), 4);
      Value* b = load(eight_i32_, at(mb_, t, b_.CreateAdd(b_row(i, i32(k)), column)), 32);
      sum = b_.CreateAdd(sum, b_.CreateMul(b_.CreateVectorSplat(8, a), b));
    }
    Value* d =
        f_.satfinite ? b_.CreateBinaryIntrinsic(Intrinsic::sadd_sat, c, sum) : b_.CreateAdd(c, sum);
    set_accumulator_row(d_, f_.d, block, row, d);
  });
}

void MultiplyCode::bits() {
  llvm::Type* i64 = b_.getInt64Ty();
  const uint32_t k_blocks = f_.k / 128;
  loop(f_.m, [&](Value* i) {
    Value* row = b_.CreateAnd(i, 7);
    Value* block = b_.CreateLShr(i, 3);
    loop(8, [&](Value* n) {
      Value* count = b_.getInt64(0);
      for (uint32_t kb = 0; kb < k_blocks; ++kb)
        for (uint32_t half = 0; half < 2; ++half) {
          Value* a = load(i64,
                          bytes(a_, muladd(b_.CreateAdd(block, i32(kb * f_.row_blocks())), 128,
                                           muladd(row, 16, i32(8 * half)))),
                          8);
          Value* b = load(i64, bytes(b_words_, muladd(n, 16, i32(128 * kb + 8 * half))), 8);
          Value* both = f_.exclusive ? b_.CreateXor(a, b) : b_.CreateAnd(a, b);
          count = b_.CreateAdd(count, b_.CreateUnaryIntrinsic(Intrinsic::ctpop, both));
        }
      Value* reg = muladd(block, 2, b_.CreateAnd(n, 1));
      Value* place = muladd(reg, 32, muladd(row, 4, b_.CreateLShr(n, 1)));
      Value* c = load(b_.getInt32Ty(), at(c_, b_.getInt32Ty(), place), 4);
      store(b_.CreateAdd(c, b_.CreateTrunc(count, b_.getInt32Ty())), at(d_, b_.getInt32Ty(), place),
            4);
    });
  });
}

/// A chain of fused multiply-adds in the order of k. Of several NaNs the device takes b's, then the
/// sum's, then a's, made quiet; an invalid operation gives 0xfff8000000000000 (measured: H200).
void MultiplyCode::float64() {
  llvm::Type* t = b_.getDoubleTy();
  ma_ = array(t, f_.m * f_.k, "a");
  mb_ = array(t, f_.k * f_.n, "b");
  read_a([&](Value* place, Value* raw) { store(raw, at(ma_, t, place), 32); });
  read_b([&](Value* place, Value* raw) { store(raw, at(mb_, t, place), 64); });
  auto* rounded = FunctionType::get(t, {b_.getInt32Ty(), b_.getInt32Ty(), t, t, t}, false);
  struct Terms {
    Value *a, *b, *sum;
  };
  auto multiply_add = [&](Value* i, Value* column, Value* k, Value* sum) {
    Value* a = load(t, at(ma_, t, muladd(i, f_.k, k)), 8);
    Value* b = load(eight_f64_, at(mb_, t, muladd(k, f_.n, column)), 64);
    Value* line = b_.CreateVectorSplat(8, a);
    if (f_.rounding == 0)
      return Terms{line, b, b_.CreateIntrinsic(Intrinsic::fma, {eight_f64_}, {line, b, sum})};
    Value* result = sum;
    for (uint64_t j = 0; j < 8; ++j) {
      Value* one = b_.CreateCall(rounded, fn_->getArg(5),
                                 {i32(static_cast<uint32_t>(kernel::RoundedOp::fma)),
                                  i32(static_cast<uint32_t>(f_.rounding)), a,
                                  b_.CreateExtractElement(b, j), b_.CreateExtractElement(sum, j)});
      result = b_.CreateInsertElement(result, one, j);
    }
    return Terms{line, b, result};
  };
  auto is_nan = [&](Value* v) { return b_.CreateFCmpUNO(v, v); };
  auto bits_of = [&](Value* v) { return b_.CreateBitCast(v, eight_i64_); };
  auto quiet = [&](Value* v) { return b_.CreateOr(bits_of(v), uint64_t{1} << 51); };
  Value* chain = variable(eight_f64_, "chain");
  each_row([&](Value* row, Value* i, Value* block, Value* column) {
    Value* c = b_.CreateBitCast(accumulator_row(c_, f_.c, block, row), eight_f64_);
    Value* sum = c;
    for (uint32_t k = 0; k < f_.k; ++k) sum = multiply_add(i, column, i32(k), sum).sum;
    // Rare: a NaN. Once more, to see which.
    BasicBlock* before = b_.GetInsertBlock();
    BasicBlock* rare = BasicBlock::Create(llvm_, "nan", fn_);
    BasicBlock* after = BasicBlock::Create(llvm_, "summed", fn_);
    b_.CreateCondBr(b_.CreateOrReduce(is_nan(sum)), rare, after);
    b_.SetInsertPoint(rare);
    b_.CreateStore(c, chain);
    loop(f_.k, [&](Value* k) {
      Value* addend = b_.CreateLoad(eight_f64_, chain);
      const Terms terms = multiply_add(i, column, k, addend);
      Value* bits =
          b_.CreateSelect(is_nan(terms.sum), ConstantInt::get(eight_i64_, uint64_t{0xfff8} << 48),
                          bits_of(terms.sum));
      bits = b_.CreateSelect(is_nan(terms.a), quiet(terms.a), bits);
      bits = b_.CreateSelect(is_nan(addend), quiet(addend), bits);
      bits = b_.CreateSelect(is_nan(terms.b), quiet(terms.b), bits);
      b_.CreateStore(b_.CreateBitCast(bits, eight_f64_), chain);
    });
    Value* other = b_.CreateLoad(eight_f64_, chain);
    BasicBlock* rare_end = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    PHINode* d = b_.CreatePHI(eight_f64_, 2);
    d->addIncoming(sum, before);
    d->addIncoming(other, rare_end);
    set_accumulator_row(d_, f_.d, block, row, bits_of(d));
  });
}

// -- floating point
// ----------------------------------------------------------------------------------------

Value* MultiplyCode::to_f32(Value* raw, PType t) {
  const uint32_t n = cast<FixedVectorType>(raw->getType())->getNumElements();
  llvm::Type* i16 = vector_of(int_type(16), n);
  llvm::Type* i = vector_of(b_.getInt32Ty(), n);
  llvm::Type* f32 = vector_of(b_.getFloatTy(), n);
  auto from_half = [&](Value* v) {
    return b_.CreateFPExt(b_.CreateBitCast(v, vector_of(llvm::Type::getHalfTy(llvm_), n)), f32);
  };
  switch (t) {
    case PType::f16:
      return from_half(raw);
    case PType::bf16:
      return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(raw, i), 16), f32);
    case PType::e5m2:
      return from_half(b_.CreateShl(b_.CreateZExt(raw, i16), 8));
    case PType::e4m3: {
      // Moved into f16's place the exponent is 8 too small; the pattern of all ones is the NaN.
      Value* wide = b_.CreateZExt(raw, i16);
      Value* magnitude = b_.CreateAnd(wide, 0x7f);
      Value* h = b_.CreateOr(b_.CreateShl(b_.CreateAnd(wide, 0x80), 8), b_.CreateShl(magnitude, 7));
      Value* v = b_.CreateFMul(from_half(h), constant(f32, 256.0));
      Value* nan = b_.CreateICmpEQ(magnitude, ConstantInt::get(i16, 0x7f));
      return b_.CreateSelect(nan, ConstantFP::getNaN(f32), v);
    }
    default:  // tf32: the low bits of the word are not looked at
      return b_.CreateBitCast(b_.CreateAnd(raw, ConstantInt::get(i, 0xffffe000u)), f32);
  }
}

/// Asked of the raw bits: of the f32 LLVM 19 would ask it of the f16 before, lane by lane.
Value* MultiplyCode::is_zero(Value* raw, PType t) {
  llvm::Type* type = raw->getType();
  const uint32_t width = type->getScalarSizeInBits();
  uint64_t mask = (uint64_t{1} << (width - 1)) - 1;
  if (t == PType::tf32) mask &= 0xffffe000u;
  return b_.CreateICmpEQ(b_.CreateAnd(raw, ConstantInt::get(type, mask)),
                         Constant::getNullValue(type));
}

/// `whole`: keep the number itself, it and its products fit f32. `least`: smallest exponent of the
/// type; what is smaller is subnormal and counts as that.
MultiplyCode::Decoded MultiplyCode::decode(Value* v, Value* zero, bool whole, int least) {
  const uint32_t n = cast<FixedVectorType>(v->getType())->getNumElements();
  llvm::Type* i = vector_of(b_.getInt32Ty(), n);
  auto ic = [&](uint32_t x) { return ConstantInt::get(i, x); };
  Value* u = b_.CreateBitCast(v, i);
  Value* field = b_.CreateAnd(b_.CreateLShr(u, 23), 255);
  Decoded d{};
  d.special = b_.CreateICmpEQ(field, ic(255));
  Value* e =
      b_.CreateBinaryIntrinsic(Intrinsic::umax, field, ic(static_cast<uint32_t>(least + 127)));
  e = b_.CreateSub(e, ic(127));
  // A product with a zero takes no part: below all other sums of exponents, and in a byte.
  const int64_t none = whole ? -64 : -500;
  d.exponent = b_.CreateSelect(zero, ConstantInt::get(i, static_cast<uint64_t>(none), true), e);
  d.value = v;
  if (whole) return d;
  Value* sign = b_.CreateAnd(u, 0x80000000u);
  Value* one = b_.CreateBitCast(b_.CreateOr(sign, ic(0x3f800000)), v->getType());
  Value* number =
      b_.CreateBitCast(b_.CreateOr(b_.CreateAnd(u, 0x807fffffu), ic(0x3f800000)), v->getType());
  Value* small = b_.CreateICmpEQ(field, ic(0));
  number = b_.CreateSelect(small, b_.CreateFSub(number, one), number);
  d.value = b_.CreateSelect(d.special, v, number);
  return d;
}

Value* MultiplyCode::power_of_two(Value* exponent) {
  Value* e = b_.CreateAdd(exponent, ConstantInt::get(eight_i32_, 1023));
  return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(e, eight_i64_), 52), eight_f64_);
}

Value* MultiplyCode::is_special(Value* f32) {
  Value* field = b_.CreateAnd(b_.CreateBitCast(f32, eight_i32_), 0x7f800000);
  return b_.CreateICmpEQ(field, ConstantInt::get(eight_i32_, 0x7f800000));
}

/// Product of row i's kept element k and eight columns of B; `b_row` is from b_row(i, k).
Value* MultiplyCode::product(Value* i, Value* k, Value* b_row, Value* column) {
  llvm::Type* f32 = b_.getFloatTy();
  Value* a = load(f32, at(ma_, f32, muladd(i, f_.kept(), k)), 4);
  return b_.CreateFMul(b_.CreateVectorSplat(8, a),
                       load(eight_f32_, at(mb_, f32, b_.CreateNSWAdd(b_row, column)), 32));
}

/// Narrow types: of the step's products, in i32. Their exponents are bytes, so that four k at a
/// time fill a vector.
Value* MultiplyCode::largest_exponent(const std::vector<uint32_t>& step, Value* i, Value* column) {
  llvm::Type* i8 = b_.getInt8Ty();
  // What consecutive k have in common: B's exponents are [column / 8][k][8].
  uint32_t run = 1;
  if (!f_.sparse)
    while (run < 4 && step[run] == step[0] + run) run *= 2;
  std::vector<int> spread;
  for (uint32_t x = 0; x < 8 * run; ++x) spread.push_back(static_cast<int>(x / 8));
  Value* column_block = b_.CreateMul(column, i32(f_.k));
  Value* most = nullptr;
  for (size_t x = 0; x < step.size(); x += run) {
    Value* a = load(vector_of(i8, run), at(ea_, i8, muladd(i, f_.kept(), i32(step[x]))), 1);
    Value* row = b_.CreateUDiv(b_row(i, i32(step[x])), i32(f_.n));
    Value* b = load(vector_of(i8, 8 * run), at(eb_, i8, muladd(row, 8, column_block)), 8);
    Value* e = b_.CreateAdd(b_.CreateShuffleVector(a, spread), b);
    most = most ? b_.CreateBinaryIntrinsic(Intrinsic::smax, most, e) : e;
  }
  for (; run > 1; run /= 2)
    most = b_.CreateBinaryIntrinsic(Intrinsic::smax, part(most, 0, 4 * run),
                                    part(most, 4 * run, 4 * run));
  return b_.CreateSExt(most, eight_i32_);
}

/// One step: addend + sum of products over `step`, for one row and eight columns. `addend` and the
/// result are bits of f16 or f32. Narrow types: products are exact f32 numbers, which no scaling
/// takes out of range.
Value* MultiplyCode::narrow_sum(Value* addend, bool f16, const std::vector<uint32_t>& step,
                                Value* i, Value* column) {
  const auto fraction = static_cast<uint64_t>(f_.model.fraction_bits);
  auto ic = [&](int64_t x) { return ConstantInt::get(eight_i32_, static_cast<uint64_t>(x), true); };
  Value* zero_addend = is_zero(addend, f16 ? PType::f16 : PType::f32);
  Value* c = f16 ? to_f32(addend, PType::f16) : b_.CreateBitCast(addend, eight_f32_);
  Value* c_exponent =
      b_.CreateSub(b_.CreateAnd(b_.CreateLShr(b_.CreateBitCast(c, eight_i32_), 23), 255), ic(127));
  // The exponents of zeros and of f32's subnormals are below those of all products.
  if (f16)
    c_exponent =
        b_.CreateSelect(zero_addend, ic(-127),
                        b_.CreateBinaryIntrinsic(Intrinsic::smax, c_exponent, ic(narrow_least)));
  Value* of_products = largest_exponent(step, i, column);
  Value* most = b_.CreateBinaryIntrinsic(Intrinsic::smax, of_products, c_exponent);
  // Units of 2^(most - fraction), cut.
  Value* field = b_.CreateSub(ic(static_cast<int64_t>(fraction) + 127), most);
  field = b_.CreateBinaryIntrinsic(Intrinsic::smin, field, ic(254));
  Value* scale = b_.CreateBitCast(b_.CreateShl(field, 23), eight_f32_);
  auto units = [&](Value* v) { return b_.CreateFPToSI(b_.CreateFMul(v, scale), eight_i32_); };
  Value* sum = nullptr;
  for (uint32_t k : step) {
    Value* v = units(product(i, i32(k), b_row(i, i32(k)), column));
    sum = sum ? b_.CreateAdd(sum, v) : v;
  }
  Value* r = b_.CreateFAdd(b_.CreateSIToFP(sum, eight_f64_), b_.CreateSIToFP(units(c), eight_f64_));
  r = b_.CreateFMul(r, power_of_two(b_.CreateSub(most, ic(static_cast<int64_t>(fraction)))));
  // As an f32 result is either normal or the addend itself, cutting is simple.
  Value* result =
      f16 ? round_to_f16(r) : b_.CreateBitCast(b_.CreateFPTrunc(cut(r), eight_f32_), eight_i32_);
  // All products zero: the addend, however small; -0 becomes 0.
  Value* none = b_.CreateICmpSLT(of_products, ic(2 * narrow_least));
  Value* alone = b_.CreateSelect(zero_addend, Constant::getNullValue(addend->getType()), addend);
  return with_specials(b_.CreateSelect(none, alone, result), addend, f16, step, i, column);
}

/// The same for bf16 and tf32, whose products may leave f32's range: mantissas and exponents apart.
Value* MultiplyCode::wide_sum(Value* addend, const std::vector<uint32_t>& step, Value* i,
                              Value* column) {
  const auto fraction = static_cast<uint64_t>(f_.model.fraction_bits);
  auto ic = [&](uint64_t x) { return ConstantInt::get(eight_i32_, x, true); };
  Decoded c =
      decode(b_.CreateBitCast(addend, eight_f32_), is_zero(addend, PType::f32), false, -126);
  Value* most = c.exponent;
  Rows exponents, products;
  for (uint32_t k : step) {
    Value* row = b_row(i, i32(k));
    Value* e = b_.CreateAdd(
        b_.CreateVectorSplat(
            8, load(b_.getInt32Ty(), at(ea_, b_.getInt32Ty(), muladd(i, f_.kept(), i32(k))), 4)),
        load(eight_i32_, at(eb_, b_.getInt32Ty(), b_.CreateAdd(row, column)), 32));
    most = b_.CreateBinaryIntrinsic(Intrinsic::smax, most, e);
    exponents.push_back(e);
    products.push_back(product(i, i32(k), row, column));
  }
  const auto least = static_cast<uint64_t>(int64_t{f_.model.least_exponent});
  most = b_.CreateBinaryIntrinsic(Intrinsic::smax, most, ic(least));
  // Scale to units of 2^(most - fraction) and cut; what underflows is less than a unit anyway.
  Value* bias = b_.CreateSub(ic(fraction + 127), most);
  auto units = [&](Value* v, Value* e) {
    Value* field = b_.CreateBinaryIntrinsic(Intrinsic::smax, b_.CreateAdd(e, bias), ic(0));
    Value* scale = b_.CreateBitCast(b_.CreateShl(field, 23), eight_f32_);
    return b_.CreateFPToSI(b_.CreateFMul(v, scale), eight_i32_);
  };
  Value* sum = nullptr;
  for (size_t x = 0; x < step.size(); ++x) {
    Value* v = units(products[x], exponents[x]);
    sum = sum ? b_.CreateAdd(sum, v) : v;
  }
  Value* r = b_.CreateFAdd(b_.CreateSIToFP(sum, eight_f64_),
                           b_.CreateSIToFP(units(c.value, c.exponent), eight_f64_));
  r = b_.CreateFMul(r, power_of_two(b_.CreateSub(most, ic(fraction))));
  return with_specials(round_to_f32(r), addend, false, step, i, column);
}

/// The bits that an f32 result keeps.
Value* MultiplyCode::cut(Value* r) {
  const uint64_t kept = ~uint64_t{0} << (52 - f_.model.output_bits);
  return b_.CreateBitCast(b_.CreateAnd(b_.CreateBitCast(r, eight_i64_), kept), eight_f64_);
}

/// Towards zero; infinity from 2^128.
Value* MultiplyCode::round_to_f32(Value* r) {
  Value* u = b_.CreateBitCast(r, eight_i64_);
  Value* sign = b_.CreateShl(b_.CreateTrunc(b_.CreateLShr(u, 63), eight_i32_), 31);
  Value* size = b_.CreateUnaryIntrinsic(Intrinsic::fabs, r);
  Value* exact = cut(size);
  Value* huge = b_.CreateFCmpOGE(size, constant(eight_f64_, 0x1p128));
  exact = b_.CreateSelect(huge, constant(eight_f64_, 0.0), exact);
  Value* normal = b_.CreateBitCast(b_.CreateFPTrunc(exact, eight_f32_), eight_i32_);
  Value* is_small = b_.CreateFCmpOLT(size, constant(eight_f64_, 0x1p-126));
  Value* scaled = b_.CreateFMul(b_.CreateSelect(is_small, size, constant(eight_f64_, 0.0)),
                                constant(eight_f64_, 0x1p149));
  Value* small = b_.CreateFPToSI(scaled, eight_i32_);
  Value* v = b_.CreateSelect(is_small, small, normal);
  v = b_.CreateSelect(huge, ConstantInt::get(eight_i32_, 0x7f800000), v);
  Value* nothing = b_.CreateICmpEQ(v, Constant::getNullValue(eight_i32_));
  return b_.CreateSelect(nothing, v, b_.CreateOr(v, sign));
}

/// To nearest even, by adding and taking away a number whose last place is the result's.
Value* MultiplyCode::round_to_f16(Value* r) {
  Value* field = b_.CreateAnd(b_.CreateLShr(b_.CreateBitCast(r, eight_i64_), 52), 0x7ff);
  field = b_.CreateBinaryIntrinsic(Intrinsic::umax, field, ConstantInt::get(eight_i64_, 1023 - 14));
  Value* big = b_.CreateOr(b_.CreateShl(b_.CreateAdd(field, ConstantInt::get(eight_i64_, 42)), 52),
                           ConstantInt::get(eight_i64_, uint64_t{1} << 51));
  big = b_.CreateBitCast(big, eight_f64_);
  Value* v = b_.CreateFSub(b_.CreateFAdd(r, big), big);
  return f16_of(b_.CreateFPTrunc(v, eight_f32_));
}

Value* MultiplyCode::f16_of(Value* f32) {
  llvm::Type* i16 = vector_of(int_type(16), 8);
  Value* h =
      b_.CreateBitCast(b_.CreateFPTrunc(f32, vector_of(llvm::Type::getHalfTy(llvm_), 8)), i16);
  return b_.CreateSelect(b_.CreateFCmpUNO(f32, f32), ConstantInt::get(i16, 0x7fff), h);
}

/// NaN or infinity where the step's products and the addend hold some, else a finite number.
Value* MultiplyCode::special_sum(Value* addend, const std::vector<uint32_t>& step, Value* i,
                                 Value* column) {
  // A loop, so that the products of the usual way need not be kept for this one.
  const auto size = static_cast<uint32_t>(step.size());
  const bool pairs = size > 2 && step[2] != step[1] + 1;  // of fp8: every other pair of k
  Value* sum = variable(eight_f32_, "special.sum");
  b_.CreateStore(addend, sum);
  loop(size, [&](Value* x) {
    Value* k = pairs ? muladd(b_.CreateLShr(x, 1), 4, b_.CreateAnd(x, 1)) : x;
    k = b_.CreateAdd(k, i32(step[0]));
    Value* next = product(i, k, b_row(i, k), column);
    b_.CreateStore(b_.CreateFAdd(b_.CreateLoad(eight_f32_, sum), next), sum);
  });
  return b_.CreateLoad(eight_f32_, sum);
}

/// The step's result where infinities or NaNs take part (rare), or `sum`. Which comes out follows
/// from ordinary arithmetic. An infinity of the addend may be an earlier step's overflow.
Value* MultiplyCode::with_specials(Value* sum, Value* addend, bool f16,
                                   const std::vector<uint32_t>& step, Value* i, Value* column) {
  Value* c32 = f16 ? to_f32(addend, PType::f16) : b_.CreateBitCast(addend, eight_f32_);
  Value* c_special = is_special(c32);
  BasicBlock* before = b_.GetInsertBlock();
  BasicBlock* rare = BasicBlock::Create(llvm_, "special", fn_);
  BasicBlock* after = BasicBlock::Create(llvm_, "rounded", fn_);
  b_.CreateCondBr(
      b_.CreateOr(b_.CreateLoad(b_.getInt1Ty(), any_special_), b_.CreateOrReduce(c_special)), rare,
      after);
  b_.SetInsertPoint(rare);
  Value* s = special_sum(b_.CreateSelect(c_special, c32, Constant::getNullValue(eight_f32_)), step,
                         i, column);
  Value* nan = b_.CreateFCmpUNO(s, s);
  Value* infinite = b_.CreateFCmpOEQ(b_.CreateUnaryIntrinsic(Intrinsic::fabs, s),
                                     ConstantFP::getInfinity(eight_f32_));
  Value* inf_bits = f16 ? f16_of(s) : b_.CreateBitCast(s, eight_i32_);
  Value* other = b_.CreateSelect(infinite, inf_bits, sum);
  other = b_.CreateSelect(nan, ConstantInt::get(sum->getType(), f16 ? 0x7fff : 0x7fffffff), other);
  BasicBlock* rare_end = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  PHINode* d = b_.CreatePHI(sum->getType(), 2);
  d->addIncoming(sum, before);
  d->addIncoming(other, rare_end);
  return d;
}

/// fp8 on sm_90: the sum of products, then an ordinary addition.
Value* MultiplyCode::add_last(Value* c, Value* sum) {
  const bool f16 = f_.d == PType::f16;
  auto wide = [&](Value* v) { return f16 ? to_f32(v, f_.d) : b_.CreateBitCast(v, eight_f32_); };
  Value* v = b_.CreateFAdd(wide(c), wide(sum));
  if (f16) return f16_of(v);
  return b_.CreateSelect(b_.CreateFCmpUNO(v, v), ConstantInt::get(eight_i32_, 0x7fffffff),
                         b_.CreateBitCast(v, eight_i32_));
}

void MultiplyCode::floating() {
  llvm::Type* f32 = b_.getFloatTy();
  const bool narrow = is_narrow(f_.a);
  llvm::Type* e = narrow ? b_.getInt8Ty() : b_.getInt32Ty();
  ma_ = array(f32, f_.m * f_.kept(), "a"), ea_ = array(e, f_.m * f_.kept(), "a.exponents");
  mb_ = array(f32, f_.k * f_.n, "b"), eb_ = array(e, f_.k * f_.n, "b.exponents");
  any_special_ = variable(b_.getInt1Ty(), "special");
  auto put = [&](Value* values, Value* place, Value* exponents, Value* exponent_place, Value* raw,
                 PType t) {
    Decoded d = decode(to_f32(raw, t), is_zero(raw, t), narrow, narrow ? narrow_least : -126);
    store(d.value, at(values, f32, place), 16);
    const uint32_t n = cast<FixedVectorType>(raw->getType())->getNumElements();
    store(b_.CreateTrunc(d.exponent, vector_of(e, n)), at(exponents, e, exponent_place), 4);
    b_.CreateStore(
        b_.CreateOr(b_.CreateLoad(b_.getInt1Ty(), any_special_), b_.CreateOrReduce(d.special)),
        any_special_);
  };
  read_a([&](Value* place, Value* raw) { put(ma_, place, ea_, place, raw, f_.a); });
  read_b([&](Value* place, Value* raw) {
    Value* k = b_.CreateUDiv(place, i32(f_.n));
    Value* block = b_.CreateUDiv(b_.CreateURem(place, i32(f_.n)), i32(8));
    Value* exponent_place = narrow ? muladd(block, 8 * f_.k, b_.CreateMul(k, i32(8))) : place;
    put(mb_, place, eb_, exponent_place, raw, f_.b);
  });
  const bool f16 = f_.c == PType::f16 && f_.d == PType::f16;
  llvm::Type* result = f16 ? static_cast<llvm::Type*>(vector_of(int_type(16), 8)) : eight_i32_;
  each_row([&](Value* row, Value* line, Value* block, Value* column) {
    Value* c = accumulator_row(c_, f_.c, block, row);
    if (f_.c == PType::f16 && !f16) c = b_.CreateBitCast(to_f32(c, PType::f16), eight_i32_);
    Value* sum = f_.c_last ? Constant::getNullValue(result) : c;
    for (const auto& step : f_.steps)
      sum = narrow ? narrow_sum(sum, f16, step, line, column) : wide_sum(sum, step, line, column);
    Value* out = f_.c_last ? add_last(c, sum) : sum;
    if (f_.d == PType::f16 && !f16) out = f16_of(b_.CreateBitCast(out, eight_f32_));
    set_accumulator_row(d_, f_.d, block, row, out);
  });
}

/// mma.m8n8k4 of f16: four products of 8 x 8 x 4, each by the lanes of two quads (q and q + 4).
/// sm_80 and later make it of ordinary instructions; this is their order (ptxas 13.0 for sm_90).
void MultiplyCode::quads() {
  llvm::Type* half = llvm::Type::getHalfTy(llvm_);
  llvm::Type* f32 = b_.getFloatTy();
  // Element `index` of a lane's halves, in words [register][lane].
  auto half_at = [&](Value* words, Value* lane, Value* index) {
    Value* word = muladd(b_.CreateLShr(index, 1), 32, lane);
    return at(words, half, muladd(word, 2, b_.CreateAnd(index, 1)));
  };
  loop(4, [&](Value* q) {
    loop(8, [&](Value* r) {
      loop(8, [&](Value* n) {
        auto lane_of = [&](Value* line) {  // of the quad that holds the upper or lower half
          return b_.CreateAdd(muladd(q, 4, b_.CreateMul(b_.CreateLShr(line, 2), i32(16))), i32(0));
        };
        auto low = [&](Value* x) { return b_.CreateAnd(x, 3); };
        Value *a[4], *b[4];
        for (uint32_t k = 0; k < 4; ++k) {
          Value* la = b_.CreateAdd(lane_of(r), f_.a_col ? i32(k) : low(r));
          Value* lb = b_.CreateAdd(lane_of(n), f_.b_row ? i32(k) : low(n));
          a[k] = b_.CreateFPExt(load(half, half_at(a_, la, f_.a_col ? low(r) : i32(k)), 2), f32);
          b[k] =
              b_.CreateFPExt(load(half, half_at(b_words_, lb, f_.b_row ? low(n) : i32(k)), 2), f32);
        }
        auto fused = [&](uint32_t k, Value* sum) {
          return b_.CreateIntrinsic(Intrinsic::fma, {f32}, {a[k], b[k], sum});
        };
        Value* lane16 = b_.CreateAdd(lane_of(r), low(r));
        Value* lane32 =
            b_.CreateAdd(lane_of(r), b_.CreateOr(b_.CreateAnd(r, 1), b_.CreateAnd(n, 2)));
        Value* reg32 = b_.CreateOr(b_.CreateAnd(n, 5), b_.CreateAnd(r, 2));
        auto place32 = [&](Value* words) { return at(words, f32, muladd(reg32, 32, lane32)); };
        Value* c = f_.c == PType::f16 ? b_.CreateFPExt(load(half, half_at(c_, lane16, n), 2), f32)
                                      : load(f32, place32(c_), 4);
        Value* d;
        if (f_.d == PType::f16) {
          Value* first = fused(1, b_.CreateFMul(a[0], b[0]));
          Value* second = fused(3, b_.CreateFMul(a[2], b[2]));
          d = b_.CreateFAdd(b_.CreateFAdd(c, first), second);
          Value* h = b_.CreateBitCast(b_.CreateFPTrunc(d, half), b_.getInt16Ty());
          h = b_.CreateSelect(b_.CreateFCmpUNO(d, d), b_.getInt16(0x7fff), h);
          store(h, half_at(d_, lane16, n), 2);
          return;
        }
        Value* sum = ConstantFP::get(f32, 0.0);
        for (uint32_t k = 0; k < 4; ++k) sum = fused(k, sum);
        d = b_.CreateFAdd(c, sum);
        Value* word = b_.CreateSelect(b_.CreateFCmpUNO(d, d), b_.getInt32(0x7fffffff),
                                      b_.CreateBitCast(d, b_.getInt32Ty()));
        store(word, place32(d_), 4);
      });
    });
  });
}

}  // namespace

llvm::Function* multiply_function(Unit& unit, const MatrixForm& form) {
  if (llvm::Function* done = unit.module.getFunction(form.key)) return done;
  auto* p = PointerType::get(unit.module.getContext(), 0);
  return MultiplyCode(unit, form, {p, p, p, p, p, p}).make();
}

}  // namespace limen::simt
