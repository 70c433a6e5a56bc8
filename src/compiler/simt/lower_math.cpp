// The .approx functions as vector polynomials, inside the bounds of PTX ISA 9.0 chapter 9.7.3:
// ex2 2 ulp, lg2 2^-22 absolute near 1 and relative elsewhere, sin and cos 2^-20.5 absolute on
// [-2pi, 2pi], tanh 2^-11 relative. LLVM would make one library call a lane.
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;

namespace {
Value* fma(IRBuilder<>& b, Value* a, Value* x, Value* c) {
  return b.CreateIntrinsic(Intrinsic::fma, {a->getType()}, {a, x, c});
}
}  // namespace

/// 2^x: x = n + f with |f| <= 1/2, a polynomial for 2^f, then two exponent steps so that results
/// may be subnormal or overflow.
Value* Lowering::ex2(Value* x) {
  if (x->getType()->getScalarType()->isDoubleTy()) {
    unit_.error = "ex2.approx.f64 is not supported";
    return x;
  }
  llvm::Type* t = x->getType();
  llvm::Type* it =
      t->isVectorTy() ? vec_type(b_.getInt32Ty()) : static_cast<llvm::Type*>(b_.getInt32Ty());
  Value* nan = b_.CreateFCmpUNO(x, x);
  Value* c = b_.CreateSelect(b_.CreateFCmpOGT(x, real(x, 129.0)), real(x, 129.0), x);
  c = b_.CreateSelect(b_.CreateFCmpOLT(c, real(x, -160.0)), real(x, -160.0), c);
  c = b_.CreateSelect(nan, real(x, 0.0), c);
  Value* n = b_.CreateUnaryIntrinsic(Intrinsic::roundeven, c);
  Value* f = b_.CreateFSub(c, n);
  // Chebyshev fit of 2^f on [-1/2, 1/2], relative error 2e-9.
  const double k[] = {1.5403530393381609e-4,
                      1.3333558146428443e-3,
                      9.6181291076284772e-3,
                      5.5504108664821580e-2,
                      2.4022650695910071e-1,
                      6.9314718055994531e-1,
                      1.0};
  Value* p = real(x, k[0]);
  for (int i = 1; i < 7; ++i) p = fma(b_, p, f, real(x, k[i]));
  Value* i = b_.CreateFPToSI(n, it);
  Value* half = b_.CreateAShr(i, 1);
  Value* rest = b_.CreateSub(i, half);
  auto power = [&](Value* e) {
    return b_.CreateBitCast(b_.CreateShl(b_.CreateAdd(e, ConstantInt::get(it, 127)), 23), t);
  };
  Value* r = b_.CreateFMul(b_.CreateFMul(p, power(half)), power(rest));
  return b_.CreateSelect(nan, x, r);
}

/// log2(x): exponent plus a series in t = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)).
Value* Lowering::lg2(Value* x) {
  if (x->getType()->getScalarType()->isDoubleTy()) {
    unit_.error = "lg2.approx.f64 is not supported";
    return x;
  }
  llvm::Type* t = x->getType();
  llvm::Type* it =
      t->isVectorTy() ? vec_type(b_.getInt32Ty()) : static_cast<llvm::Type*>(b_.getInt32Ty());
  auto ic = [&](uint64_t v) { return ConstantInt::get(it, v, true); };
  Value* tiny = b_.CreateFCmpOLT(x, real(x, 0x1p-126));
  Value* y = b_.CreateSelect(tiny, b_.CreateFMul(x, real(x, 0x1p23)), x);
  Value* u = b_.CreateBitCast(y, it);
  // Move the split point to sqrt(1/2): the exponent of u - sqrt(1/2)'s bits.
  Value* shifted = b_.CreateSub(u, ic(0x3f3504f3));
  Value* e = b_.CreateAShr(shifted, 23);
  Value* m = b_.CreateBitCast(b_.CreateSub(u, b_.CreateShl(e, 23)), t);
  Value* ef = b_.CreateSIToFP(e, t);
  ef = b_.CreateSelect(tiny, b_.CreateFSub(ef, real(x, 23.0)), ef);
  Value* r = b_.CreateFSub(m, real(x, 1.0));
  Value* s = b_.CreateFDiv(r, b_.CreateFAdd(m, real(x, 1.0)));
  Value* s2 = b_.CreateFMul(s, s);
  // 2/ln2 * (1 + s^2/3 + s^4/5 + s^6/7 + s^8/9)
  const double c = 2.8853900817779268;
  Value* p = real(x, c / 9);
  for (int d : {7, 5, 3, 1}) p = fma(b_, p, s2, real(x, c / d));
  Value* v = fma(b_, p, s, ef);
  Value* inf = ConstantFP::getInfinity(t);
  v = b_.CreateSelect(b_.CreateFCmpOEQ(x, inf), inf, v);
  v = b_.CreateSelect(b_.CreateFCmpOEQ(x, real(x, 0.0)), ConstantFP::getInfinity(t, true), v);
  Value* bad = b_.CreateFCmpULT(x, real(x, 0.0));
  return b_.CreateSelect(bad, b_.CreateBitCast(ic(0x7fffffff), t), v);
}

Value* Lowering::sin_cos(Value* x, bool is_cos) {
  llvm::Type* t = x->getType();
  llvm::Type* it =
      t->isVectorTy() ? vec_type(b_.getInt32Ty()) : static_cast<llvm::Type*>(b_.getInt32Ty());
  auto ic = [&](uint64_t v) { return ConstantInt::get(it, v, true); };
  Value* inf = ConstantFP::getInfinity(t);
  Value* a = b_.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  Value* bad = b_.CreateFCmpUEQ(a, inf);
  Value* in = b_.CreateSelect(bad, real(x, 0.0), x);
  // x = n * pi/2 + r, with pi/2 in three parts (Cody and Waite).
  Value* n = b_.CreateUnaryIntrinsic(Intrinsic::roundeven,
                                     b_.CreateFMul(in, real(x, 0.63661977236758134)));
  Value* r = fma(b_, n, real(x, -1.57079601287841796875), in);
  r = fma(b_, n, real(x, -3.1391647326017846e-07), r);
  r = fma(b_, n, real(x, -5.390302529957764e-15), r);
  Value* big = b_.CreateFCmpOGT(a, real(x, 2147483000.0));
  Value* q = b_.CreateFPToSI(b_.CreateSelect(big, real(x, 0.0), n), it);
  if (is_cos) q = b_.CreateAdd(q, ic(1));
  Value* r2 = b_.CreateFMul(r, r);
  Value* s = real(x, 2.718311493989822e-6);
  s = fma(b_, s, r2, real(x, -1.98393348360966e-4));
  s = fma(b_, s, r2, real(x, 8.33332938588946e-3));
  s = fma(b_, s, r2, real(x, -1.66666666416265e-1));
  s = fma(b_, b_.CreateFMul(s, r2), r, r);
  Value* c = real(x, 2.43904487962774e-5);
  c = fma(b_, c, r2, real(x, -1.38867637746099e-3));
  c = fma(b_, c, r2, real(x, 4.16666233237390e-2));
  c = fma(b_, c, r2, real(x, -4.99999997251031e-1));
  c = fma(b_, c, r2, real(x, 1.0));
  Value* odd = b_.CreateICmpNE(b_.CreateAnd(q, ic(1)), ic(0));
  Value* v = b_.CreateSelect(odd, c, s);
  Value* negative = b_.CreateICmpNE(b_.CreateAnd(q, ic(2)), ic(0));
  v = b_.CreateSelect(negative, b_.CreateFNeg(v), v);
  if (!is_cos) v = b_.CreateSelect(b_.CreateFCmpOEQ(in, real(x, 0.0)), in, v);  // keeps -0
  return b_.CreateSelect(bad, b_.CreateBitCast(ic(0x7fffffff), t), v);
}

/// tanh(x) = 1 - 2 / (2^(2x log2 e) + 1), and x itself where that cancels.
Value* Lowering::tanh(Value* x) {
  Value* a = b_.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  Value* e = ex2(b_.CreateFMul(a, real(x, 2.8853900817779268)));
  Value* r =
      b_.CreateFSub(real(x, 1.0), b_.CreateFDiv(real(x, 2.0), b_.CreateFAdd(e, real(x, 1.0))));
  // x - x^3/3 + 2x^5/15 below 0.25.
  Value* a2 = b_.CreateFMul(a, a);
  Value* small = fma(b_, a2, real(x, 2.0 / 15), real(x, -1.0 / 3));
  small = fma(b_, b_.CreateFMul(small, a2), a, a);
  r = b_.CreateSelect(b_.CreateFCmpOLT(a, real(x, 0.25)), small, r);
  return b_.CreateBinaryIntrinsic(Intrinsic::copysign, r, x);
}

}  // namespace limen::simt
