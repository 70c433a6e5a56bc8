// The .approx functions as vector polynomials, inside the bounds of PTX ISA 9.0 chapter 9.7.3:
// ex2 2 ulp, lg2 2^-22 absolute near 1 and relative elsewhere, sin and cos 2^-20.5 absolute on
// [-2pi, 2pi], tanh 2^-11 relative. LLVM would make one library call a lane.
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/simt/lower.h"
#include "compiler/simt/lower_math.h"

namespace limen::simt {

using namespace llvm;
using ptx::Op;

namespace {
Value* fma(IRBuilder<>& b, Value* a, Value* x, Value* c) {
  return b.CreateIntrinsic(Intrinsic::fma, {a->getType()}, {a, x, c});
}
}  // namespace

/// Minimax fit of 2^f on [-1/2, 1/2] with P(0) = 1: relative error 2e-9, in f32 under 1 ulp.
static Value* ex2_of_fraction(IRBuilder<>& b, Value* f) {
  constexpr double k[] = {1.5353361818465014e-4,
                          1.3398874445611636e-3,
                          9.6184373572881400e-3,
                          5.5503324710263160e-2,
                          2.4022647913619746e-1,
                          6.9314720285513010e-1,
                          1.0};
  Value* p = ConstantFP::get(f->getType(), k[0]);
  for (int i = 1; i < 7; ++i) p = fma(b, p, f, ConstantFP::get(f->getType(), k[i]));
  return p;
}

/// 2^x in f32, 0 for a result below 2^-126: what ex2() makes, and flushed.
Value* ex2_flushed(IRBuilder<>& b, Value* x) {
  llvm::Type* t = x->getType();
  llvm::Type* it = t->getWithNewType(b.getInt32Ty());
  auto real = [&](double v) { return ConstantFP::get(t, v); };
  Value* c = b.CreateSelect(b.CreateFCmpOGT(x, real(128.0)), real(128.0), x);
  c = b.CreateSelect(b.CreateFCmpOLT(c, real(-127.0)), real(-127.0), c);
  // The nearest integer stands in the last bits of the sum.
  Value* sum = b.CreateFAdd(c, real(0x1.8p23));
  Value* p = ex2_of_fraction(b, b.CreateFSub(c, b.CreateFSub(sum, real(0x1.8p23))));
  // 2^128 becomes infinity by its exponent, and 2^f is 1 there.
  Value* r = b.CreateAdd(b.CreateBitCast(p, it), b.CreateShl(b.CreateBitCast(sum, it), 23));
  Value* other = b.CreateSelect(b.CreateFCmpOGT(real(0.0), x), real(0.0), x);  // 0, or the NaN
  return b.CreateSelect(b.CreateFCmpOGE(x, real(-126.0)), b.CreateBitCast(r, t), other);
}

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
  Value* p = ex2_of_fraction(b_, f);
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

/// As the device does it: x in revolutions by one product rounded towards zero, then sin or cos of
/// the fraction. So arguments beyond the documented range give the device's values too.
Value* Lowering::sin_cos(Value* x, bool is_cos) {
  llvm::Type* t = x->getType();
  llvm::Type* it =
      t->isVectorTy() ? vec_type(b_.getInt32Ty()) : static_cast<llvm::Type*>(b_.getInt32Ty());
  auto ic = [&](uint64_t v) { return ConstantInt::get(it, v, true); };
  Value* bad =
      b_.CreateFCmpUEQ(b_.CreateUnaryIntrinsic(Intrinsic::fabs, x), ConstantFP::getInfinity(t));
  Value* in = b_.CreateSelect(bad, real(x, 0.0), x);
  Value* per_turn = real(x, 0x1.45f306p-3);  // 1 / (2 pi)
  Value* turns = b_.CreateFMul(in, per_turn);
  Value* rest = fma(b_, in, per_turn, b_.CreateFNeg(turns));
  Value* positive = b_.CreateFCmpOGT(turns, real(x, 0.0));
  Value* negative = b_.CreateFCmpOLT(turns, real(x, 0.0));
  Value* beyond = b_.CreateOr(b_.CreateAnd(positive, b_.CreateFCmpOLT(rest, real(x, 0.0))),
                              b_.CreateAnd(negative, b_.CreateFCmpOGT(rest, real(x, 0.0))));
  Value* bits = b_.CreateBitCast(turns, it);
  turns = b_.CreateBitCast(b_.CreateSelect(beyond, b_.CreateSub(bits, ic(1)), bits), t);
  Value* part = b_.CreateFSub(turns, b_.CreateUnaryIntrinsic(Intrinsic::roundeven, turns));
  // In quarters: part = n / 4 + r with |r| <= 1/8.
  Value* n = b_.CreateUnaryIntrinsic(Intrinsic::roundeven, b_.CreateFMul(part, real(x, 4.0)));
  Value* r = b_.CreateFMul(fma(b_, n, real(x, -0.25), part), real(x, 6.283185307179586));
  Value* q = b_.CreateFPToSI(n, it);
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
  Value* minus = b_.CreateICmpNE(b_.CreateAnd(q, ic(2)), ic(0));
  v = b_.CreateSelect(minus, b_.CreateFNeg(v), v);
  if (!is_cos) {
    // A whole number of turns keeps the sign.
    Value* whole = b_.CreateFCmpOEQ(part, real(x, 0.0));
    v = b_.CreateSelect(whole, b_.CreateBinaryIntrinsic(Intrinsic::copysign, real(x, 0.0), in), v);
  }
  return b_.CreateSelect(bad, b_.CreateBitCast(ic(0x7fffffff), t), v);
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: the device looks at the upper half of the operand
/// only and clears the lower half of the result. PTX ISA 9.0, 9.7.3.14 and 9.7.3.18.
Value* Lowering::upper_half_f64(const Inst& inst, Value* x) {
  llvm::Type* t = x->getType();
  llvm::Type* it = t->isVectorTy() ? vec_type(b_.getInt64Ty()) : b_.getInt64Ty();
  auto ic = [&](uint64_t v) { return ConstantInt::get(it, v); };
  auto upper = [&](Value* v) {
    return b_.CreateBitCast(b_.CreateAnd(b_.CreateBitCast(v, it), ic(0xffffffff00000000)), t);
  };
  auto flushed = [&](Value* v) {
    Value* tiny = b_.CreateFCmpOLT(b_.CreateUnaryIntrinsic(Intrinsic::fabs, v), real(x, 0x1p-1022));
    return b_.CreateSelect(tiny, b_.CreateBinaryIntrinsic(Intrinsic::copysign, real(x, 0.0), v), v);
  };
  Value* a = flushed(upper(x));
  Value* d = inst.op == Op::rsqrt ? b_.CreateUnaryIntrinsic(Intrinsic::sqrt, a) : a;
  Value* r = flushed(upper(b_.CreateFDiv(real(x, 1.0), d)));
  Value* nan = b_.CreateBitCast(ic(0x7fffffff00000000), t);
  return b_.CreateSelect(b_.CreateFCmpUNO(r, r), nan, r);
}

/// 1/sqrt(x) in double: the quotient improved by one step, so that it is off by little more than
/// half a unit.
Value* Lowering::rsqrt_f64(Value* x) {
  Value* y = b_.CreateFDiv(real(x, 1.0), b_.CreateUnaryIntrinsic(Intrinsic::sqrt, x));
  // 1 - x y^2, with the rounding of x y taken along.
  Value* h = b_.CreateFMul(x, y);
  Value* low = fma(b_, x, y, b_.CreateFNeg(h));
  Value* e = fma(b_, b_.CreateFNeg(low), y, fma(b_, b_.CreateFNeg(h), y, real(x, 1.0)));
  Value* better = fma(b_, b_.CreateFMul(y, real(x, 0.5)), e, y);
  // Zero, infinity, subnormals and NaN: as they are.
  Value* a = b_.CreateUnaryIntrinsic(Intrinsic::fabs, e);
  return b_.CreateSelect(b_.CreateFCmpOLT(a, real(x, 0x1p-40)), better, y);
}

/// x / y by way of 1 / y as the device has it: no quotient above 2^126, where 1 / y is flushed.
Value* Lowering::divide_approx(Value* x, Value* y) {
  Value* large = b_.CreateFCmpOGT(b_.CreateUnaryIntrinsic(Intrinsic::fabs, y), real(y, 0x1p126));
  Value* zero = b_.CreateBinaryIntrinsic(Intrinsic::copysign, real(y, 0.0), y);
  Value* nothing = b_.CreateFMul(x, zero);  // an infinite x gives NaN
  return b_.CreateSelect(large, nothing, b_.CreateFDiv(x, y));
}

/// tanh(x) = 1 - 2 / (2^(2x log2 e) + 1), and x itself where that cancels.
Value* Lowering::tanh(Value* x) {
  Value* a = b_.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  Value* e = ex2_flushed(b_, b_.CreateFMul(a, real(x, 2.8853900817779268)));
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
