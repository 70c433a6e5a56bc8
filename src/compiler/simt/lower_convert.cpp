// cvt in all pairs of integer and floating types, and mov with packing. Out-of-range and NaN
// results are the device's: saturated, NaN to 0 (64-bit targets: the sign bit alone).
#include <llvm/IR/IntrinsicInst.h>

#include <cmath>

#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;
using kernel::RoundedOp;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;
using PType = ptx::Type;

namespace {
bool half(PType t) { return t == PType::f16 || t == PType::bf16; }
bool fp(PType t) { return t == PType::f32 || t == PType::f64 || half(t); }
}  // namespace

/// Moves the nearest result `bits` (an integer vector, value `back`) to where `mode` wants it for
/// the exact value `exact`: 1 rz, 2 rm, 3 rp, 4 to odd. Steps of one unit; from infinity inwards
/// too.
Value* Lowering::step_rounding(Value* exact, Value* bits, Value* back, int mode) {
  llvm::Type* it = bits->getType();
  const unsigned n = it->getScalarSizeInBits();
  Value* one = ConstantInt::get(it, 1);
  Value* sign = ConstantInt::get(it, APInt::getSignMask(n));
  Value* zero = Constant::getNullValue(it);
  Value* negative = b_.CreateICmpSLT(bits, zero);
  Value* up = b_.CreateSelect(negative, b_.CreateSub(bits, one), b_.CreateAdd(bits, one));
  Value* down = b_.CreateSelect(negative, b_.CreateAdd(bits, one), b_.CreateSub(bits, one));
  Value* is_zero = b_.CreateICmpEQ(b_.CreateAnd(bits, b_.CreateNot(sign)), zero);
  up = b_.CreateSelect(is_zero, one, up);
  down = b_.CreateSelect(is_zero, b_.CreateOr(sign, one), down);
  Value* above = b_.CreateFCmpOGT(back, exact);
  Value* below = b_.CreateFCmpOLT(back, exact);
  Value* positive = b_.CreateFCmpOGT(exact, ConstantFP::get(exact->getType(), 0.0));
  if (mode == 2) return b_.CreateSelect(above, down, bits);
  if (mode == 3) return b_.CreateSelect(below, up, bits);
  Value* cut =
      b_.CreateSelect(b_.CreateAnd(positive, above), down,
                      b_.CreateSelect(b_.CreateAnd(b_.CreateNot(positive), below), up, bits));
  if (mode == 1) return cut;
  return b_.CreateSelect(b_.CreateOr(above, below), b_.CreateOr(cut, one), cut);
}

/// double to float: mode 0 nearest, 1 rz, 2 rm, 3 rp, 4 to odd. Exact by comparing back.
Value* Lowering::narrow_directed(Value* d, int mode) {
  const bool vecs = d->getType()->isVectorTy();
  llvm::Type* ft = vecs ? vec_type(b_.getFloatTy()) : b_.getFloatTy();
  llvm::Type* it = vecs ? vec_type(b_.getInt32Ty()) : static_cast<llvm::Type*>(b_.getInt32Ty());
  Value* f = b_.CreateFPTrunc(d, ft);
  if (mode == 0) return f;
  Value* back = b_.CreateFPExt(f, d->getType());
  return b_.CreateBitCast(step_rounding(d, b_.CreateBitCast(f, it), back, mode), ft);
}

/// float to f16 or bf16 bits with a directed rounding; NaN is canonical.
Value* Lowering::half_directed(Value* v, bool bf16, int mode) {
  if (v->getType()->getScalarType()->isDoubleTy()) v = narrow_directed(v, 4);
  Value* nearest = float_to_half(v, bf16);
  Value* moved = step_rounding(v, nearest, half_to_float(nearest, bf16), mode);
  return b_.CreateSelect(b_.CreateFCmpUNO(v, v), nearest, moved);
}

Value* Lowering::round_to_integral(const Inst& inst, Value* v) {
  if (inst.has(Tok::rni)) return b_.CreateUnaryIntrinsic(Intrinsic::roundeven, v);
  if (inst.has(Tok::rzi)) return b_.CreateUnaryIntrinsic(Intrinsic::trunc, v);
  if (inst.has(Tok::rmi)) return b_.CreateUnaryIntrinsic(Intrinsic::floor, v);
  if (inst.has(Tok::rpi)) return b_.CreateUnaryIntrinsic(Intrinsic::ceil, v);
  return v;
}

Value* Lowering::float_to_int(const Inst& inst, Value* v, PType to) {
  v = round_to_integral(inst, v);
  const unsigned n = static_cast<unsigned>(bits_of(to));
  llvm::Type* it = int_type(n);
  if (v->getType()->isVectorTy()) it = vec_type(it);
  Value* r = b_.CreateIntrinsic(ptx::is_signed(to) ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
                                {it, v->getType()}, {v});
  if (n == 64 || v->getType()->getScalarType()->isDoubleTy()) {
    Value* nan = b_.CreateFCmpUNO(v, v);
    r = b_.CreateSelect(nan, ConstantInt::get(it, uint64_t{1} << (n - 1)), r);
  }
  return r;
}

Value* Lowering::int_to_float(const Inst& inst, Value* v, PType from, PType to) {
  const int mode = round_mode(inst);
  const bool vecs = v->getType()->isVectorTy();
  const bool sg = ptx::is_signed(from);
  auto ty = [&](llvm::Type* t) { return vecs ? vec_type(t) : t; };
  auto convert = [&](llvm::Type* t) {
    return sg ? b_.CreateSIToFP(v, ty(t)) : b_.CreateUIToFP(v, ty(t));
  };
  const bool small = bits_of(from) <= 32;
  if (to == PType::f64) {
    if (mode == 0 || small) return convert(b_.getDoubleTy());
  } else if (to == PType::f32) {
    if (mode == 0) return convert(b_.getFloatTy());
    if (small) return narrow_directed(convert(b_.getDoubleTy()), mode);
  } else {
    // f16 and bf16: 32-bit integers are exact in double.
    if (small) {
      Value* d = saturate(inst, convert(b_.getDoubleTy()));
      return mode ? half_directed(d, to == PType::bf16, mode) : float_to_half(d, to == PType::bf16);
    }
    // Wider ones are cut to what fits, the last bit kept odd when something was cut off, so that
    // the rounding that follows decides as if it had seen all of it.
    llvm::Type* i64 = ty(b_.getInt64Ty());
    auto ic = [&](uint64_t c) { return ConstantInt::get(i64, c); };
    Value* low = b_.CreateAnd(v, ic(0x7ff));
    Value* odd = b_.CreateSelect(b_.CreateICmpEQ(low, ic(0)), ic(0), ic(0x800));
    Value* cut = b_.CreateOr(b_.CreateSub(v, low), odd);
    Value* size = sg ? b_.CreateBinaryIntrinsic(Intrinsic::abs, v, b_.getFalse()) : v;
    v = b_.CreateSelect(b_.CreateICmpULT(size, ic(uint64_t{1} << 53)), v, cut);
    Value* d = saturate(inst, convert(b_.getDoubleTy()));
    return mode ? half_directed(d, to == PType::bf16, mode) : float_to_half(d, to == PType::bf16);
  }
  // 64-bit integers do not fit a double: one lane after the other, in exact halves. Rounding twice
  // in one direction is rounding once.
  llvm::Type* out = to == PType::f64 ? b_.getDoubleTy() : b_.getFloatTy();
  llvm::Type* i64 = b_.getInt64Ty();
  auto one = [&](Value* x) -> Value* {
    // Halves are exact in double; their sum, rounded as asked, is the conversion.
    Value* high = b_.CreateShl(sg ? b_.CreateAShr(x, 32) : b_.CreateLShr(x, 32), 32);
    Value* low = b_.CreateAnd(x, ConstantInt::get(i64, 0xffffffffu));
    Value* h =
        sg ? b_.CreateSIToFP(high, b_.getDoubleTy()) : b_.CreateUIToFP(high, b_.getDoubleTy());
    Value* l = b_.CreateUIToFP(low, b_.getDoubleTy());
    Value* sum = rounded(inst, RoundedOp::add, {h, l});
    return to == PType::f64 ? sum : narrow_directed(sum, mode);
  };
  if (!vecs) return one(v);
  Value* r = PoisonValue::get(ty(out));
  for (uint32_t i = 0; i < width(); ++i)
    r = b_.CreateInsertElement(r, one(b_.CreateExtractElement(v, uint64_t{i})), uint64_t{i});
  return r;
}

namespace {

/// The 8-bit formats: e4m3 without infinities, e5m2 as IEEE. PTX ISA 9.0, 5.2.3.
struct Fp8 {
  int mantissa, bias;
  uint64_t largest;  ///< code of the largest finite magnitude
};
constexpr Fp8 e4m3{3, 7, 0x7e}, e5m2{2, 15, 0x7b};

const Fp8& fp8_of(PType t) { return t == PType::e4m3x2 ? e4m3 : e5m2; }

}  // namespace

/// f32 (i32 vector of codes out) to an 8-bit format: to nearest even, saturated, NaN is 0x7f.
Value* Lowering::float_to_fp8(Value* x, PType to) {
  const Fp8& format = fp8_of(to);
  llvm::Type* it = x->getType()->isVectorTy() ? vec_type(b_.getInt32Ty()) : b_.getInt32Ty();
  auto ic = [&](uint64_t c) { return ConstantInt::get(it, c); };
  Value* bits = b_.CreateBitCast(x, it);
  Value* magnitude = b_.CreateAnd(bits, ic(0x7fffffff));
  const unsigned shift = 23 - static_cast<unsigned>(format.mantissa);
  Value* odd = b_.CreateAnd(b_.CreateLShr(magnitude, shift), ic(1));
  Value* normal = b_.CreateLShr(
      b_.CreateAdd(magnitude, b_.CreateAdd(odd, ic((uint64_t{1} << (shift - 1)) - 1))), shift);
  normal = b_.CreateSub(normal, ic(static_cast<uint64_t>(127 - format.bias) << format.mantissa));
  // Below the normal range the addition's own rounding leaves the code in the last bits.
  const double unit = std::ldexp(1.0, 1 - format.bias - format.mantissa);
  Value* magic = real(x, std::ldexp(unit, 23));
  Value* sum = b_.CreateFAdd(b_.CreateBitCast(magnitude, x->getType()), magic);
  Value* tiny = b_.CreateSub(b_.CreateBitCast(sum, it), b_.CreateBitCast(magic, it));
  Value* a = b_.CreateBitCast(magnitude, x->getType());
  Value* small = b_.CreateFCmpOLT(a, real(x, std::ldexp(1.0, 1 - format.bias)));
  Value* code = b_.CreateSelect(small, tiny, normal);
  // Codes order as magnitudes do; infinity is far above.
  Value* over = b_.CreateFCmpOGT(a, real(x, 65536.0));
  code = b_.CreateBinaryIntrinsic(Intrinsic::umin, code, ic(format.largest));
  code = b_.CreateSelect(over, ic(format.largest), code);
  code = b_.CreateOr(code, b_.CreateAnd(b_.CreateLShr(bits, 24), ic(0x80)));
  return b_.CreateSelect(b_.CreateFCmpUNO(x, x), ic(0x7f), code);
}

/// An 8-bit code (in an i32) to f16 bits (in an i32). Exact; NaN is 0x7fff.
Value* Lowering::fp8_to_half(Value* code, PType from) {
  llvm::Type* it = code->getType();
  auto ic = [&](uint64_t c) { return ConstantInt::get(it, c); };
  Value* magnitude = b_.CreateAnd(code, ic(0x7f));
  Value* sign = b_.CreateShl(b_.CreateAnd(code, ic(0x80)), 8);
  if (from == PType::e5m2x2) {
    Value* nan = b_.CreateICmpUGT(magnitude, ic(0x7c));
    return b_.CreateSelect(nan, ic(0x7fff), b_.CreateOr(sign, b_.CreateShl(magnitude, 8)));
  }
  // As an f16 of the same fields the value is 2^-8 of what it should be, subnormals included.
  llvm::Type* i16 = it->isVectorTy() ? vec_type(b_.getInt16Ty()) : b_.getInt16Ty();
  Value* h = half_to_float(b_.CreateTrunc(b_.CreateShl(magnitude, 7), i16), false);
  h = b_.CreateZExt(float_to_half(b_.CreateFMul(h, real(h, 256.0)), false), it);
  Value* nan = b_.CreateICmpEQ(magnitude, ic(0x7f));
  return b_.CreateSelect(nan, ic(0x7fff), b_.CreateOr(sign, h));
}

/// Half bits with infinities made the largest finite value, for .satfinite.
Value* Lowering::finite_half(Value* h, bool bf16) {
  const uint64_t infinity = bf16 ? 0x7f80 : 0x7c00;
  auto ic = [&](uint64_t c) { return ConstantInt::get(h->getType(), c); };
  Value* is_infinite = b_.CreateICmpEQ(b_.CreateAnd(h, ic(0x7fff)), ic(infinity));
  return b_.CreateSelect(is_infinite, b_.CreateSub(h, ic(1)), h);
}

/// float to half bits as the instruction says: rounding, .relu, .satfinite.
Value* Lowering::cvt_to_half(const Inst& inst, Value* x, bool bf16) {
  const int mode = round_mode(inst);
  Value* h = mode ? half_directed(x, bf16, mode) : float_to_half(x, bf16);
  if (inst.has(Tok::satfinite)) h = finite_half(h, bf16);
  if (inst.has(Tok::relu))
    h = b_.CreateSelect(b_.CreateFCmpOLE(x, real(x, 0.0)), Constant::getNullValue(h->getType()), h);
  return h;
}

namespace {

/// ue8m0, powers of two without a sign, 0xff is NaN. Of an f32's bits: the exponent of the
/// magnitude, one more where .rp finds anything below it. Values: NVIDIA's cuda_fp8.h 13.0, run on
/// the host.
Value* exponent_code(IRBuilderBase& b, Value* bits, const ptx::Instruction& inst) {
  auto ic = [&](uint64_t c) { return ConstantInt::get(bits->getType(), c); };
  Value* magnitude = b.CreateAnd(bits, ic(0x7fffffff));
  Value* code = b.CreateLShr(magnitude, 23);
  if (inst.has(Tok::rp)) {
    // 2^-127, the least, is a subnormal.
    Value* exact = b.CreateSelect(b.CreateICmpEQ(code, ic(0)), ic(0x400000), ic(0));
    Value* more = b.CreateICmpUGT(b.CreateAnd(magnitude, ic(0x7fffff)), exact);
    code = b.CreateAdd(code, b.CreateZExt(more, bits->getType()));
  }
  const uint64_t largest = inst.has(Tok::satfinite) ? 0xfe : 0xff;
  code = b.CreateBinaryIntrinsic(Intrinsic::umin, code, ic(largest));
  return b.CreateSelect(b.CreateICmpUGT(magnitude, ic(0x7f800000)), ic(0xff), code);
}

/// bf16 bits of a ue8m0 code, both in an i32. Exact.
Value* exponent_to_bf16(IRBuilderBase& b, Value* code) {
  auto ic = [&](uint64_t c) { return ConstantInt::get(code->getType(), c); };
  Value* h = b.CreateSelect(b.CreateICmpEQ(code, ic(0)), ic(0x40), b.CreateShl(code, 7));
  return b.CreateSelect(b.CreateICmpEQ(code, ic(0xff)), ic(0x7fff), h);
}

}  // namespace

/// Two values side by side: cvt.d.f32 d, a, b (a above b) and the two-element formats among
/// themselves.
void Lowering::lower_cvt_packed(const Inst& inst) {
  const PType to = inst.type(0), from = inst.type(1);
  if (inst.has(Tok::rs)) return fail(inst, "stochastic rounding is not supported");
  const bool fp8_to = to == PType::e4m3x2 || to == PType::e5m2x2;
  const bool fp8_from = from == PType::e4m3x2 || from == PType::e5m2x2;
  const bool half_to = to == PType::f16x2 || to == PType::bf16x2;
  const bool exponent_to = to == PType::ue8m0x2, exponent_from = from == PType::ue8m0x2;
  const bool bytes_to = fp8_to || exponent_to, bytes_from = fp8_from || exponent_from;
  const unsigned each = bytes_to ? 8 : 16;
  std::vector<Val> args;
  for (size_t i = 1; i < inst.ops.size(); ++i)
    args.push_back(read(inst.ops[i], bytes_from           ? PType::b16
                                     : from == PType::f32 ? PType::f32
                                                          : PType::b32));
  Val r = map(args, [&](const std::vector<Value*>& v) -> Value* {
    llvm::Type* i32 = b_.getInt32Ty();
    llvm::Type* i16 = b_.getInt16Ty();
    if (v[0]->getType()->isVectorTy()) i32 = vec_type(i32), i16 = vec_type(i16);
    Value* out = Constant::getNullValue(i32);
    for (unsigned part = 0; part < 2; ++part) {
      Value* x;
      if (bytes_from) {
        x = b_.CreateAnd(b_.CreateLShr(b_.CreateZExt(v[0], i32), 8 * part),
                         ConstantInt::get(i32, 0xff));
        Value* h = fp8_from ? fp8_to_half(x, from) : exponent_to_bf16(b_, x);
        if (inst.has(Tok::relu)) {
          Value* number = b_.CreateICmpNE(h, ConstantInt::get(i32, 0x7fff));
          Value* negative = b_.CreateICmpNE(b_.CreateAnd(x, ConstantInt::get(i32, 0x80)),
                                            Constant::getNullValue(i32));
          h = b_.CreateSelect(b_.CreateAnd(number, negative), Constant::getNullValue(i32), h);
        }
        out = b_.CreateOr(out, b_.CreateShl(h, 16 * part));
        continue;
      }
      if (from == PType::f32)
        x = v[1 - part];
      else if (exponent_to)
        x = b_.CreateShl(b_.CreateLShr(v[0], 16 * part), 16);
      else
        x = half_to_float(b_.CreateTrunc(b_.CreateLShr(v[0], 16 * part), i16), false);
      Value* code;
      if (exponent_to) {
        code = exponent_code(b_, b_.CreateBitCast(x, i32), inst);
      } else if (fp8_to) {
        code = float_to_fp8(x, to);
        if (inst.has(Tok::relu))
          code =
              b_.CreateSelect(b_.CreateFCmpOLE(x, real(x, 0.0)), Constant::getNullValue(i32), code);
      } else {
        code = b_.CreateZExt(cvt_to_half(inst, x, to == PType::bf16x2), i32);
      }
      out = b_.CreateOr(out, b_.CreateShl(code, each * part));
    }
    return bytes_to ? b_.CreateTrunc(out, i16) : out;
  });
  if (!bytes_to && !half_to) return fail(inst, "this packed conversion is not supported");
  write(inst.ops[0], r, bytes_to ? PType::b16 : PType::b32);
}

/// cvt.pack: two integers saturated and put together, below what c holds (8- and 4-bit results).
void Lowering::lower_cvt_pack(const Inst& inst) {
  const PType to = inst.type(0);
  const bool nibbles = to == PType::u4 || to == PType::s4;
  const unsigned n = nibbles ? 4 : static_cast<unsigned>(bits_of(to));
  const bool sg = to == PType::s4 || ptx::is_signed(to);
  std::vector<Val> args;
  for (size_t i = 1; i < inst.ops.size(); ++i) args.push_back(read(inst.ops[i], PType::b32));
  Val r = map(args, [&](const std::vector<Value*>& v) -> Value* {
    llvm::Type* i32 = v[0]->getType();
    auto ic = [&](int64_t c) { return ConstantInt::get(i32, static_cast<uint64_t>(c), true); };
    const int64_t least = sg ? -(int64_t{1} << (n - 1)) : 0;
    const int64_t most = (int64_t{1} << (sg ? n - 1 : n)) - 1;
    auto fitted = [&](Value* x) {
      x = b_.CreateBinaryIntrinsic(Intrinsic::smax, x, ic(least));
      x = b_.CreateBinaryIntrinsic(Intrinsic::smin, x, ic(most));
      return b_.CreateAnd(x, ic((int64_t{1} << n) - 1));
    };
    Value* out = b_.CreateOr(b_.CreateShl(fitted(v[0]), n), fitted(v[1]));
    return v.size() > 2 ? b_.CreateOr(out, b_.CreateShl(v[2], 2 * n)) : out;
  });
  write(inst.ops[0], r, PType::b32);
}

void Lowering::lower_cvt(const Inst& inst) {
  const PType to = inst.type(0), from = inst.type(1);
  if (inst.has(Tok::pack)) return lower_cvt_pack(inst);
  if (to == PType::tf32) {
    if (from != PType::f32) return fail(inst, "this conversion is not supported");
    Val a = read(inst.ops[1], PType::b32);
    Val r = map({a}, [&](const std::vector<Value*>& v) -> Value* {
      // 10 mantissa bits stay; ties away from zero (.rna) or to even (.rn).
      Value* u = v[0];
      auto ic = [&](uint64_t c) { return ConstantInt::get(u->getType(), c); };
      Value* magnitude = b_.CreateAnd(u, ic(0x7fffffff));
      Value* add = ic(0x1000);
      if (inst.has(Tok::rz))
        add = ic(0);
      else if (!inst.has(Tok::rna))
        add = b_.CreateAdd(ic(0xfff), b_.CreateAnd(b_.CreateLShr(u, 13), ic(1)));
      Value* cut = ic(~uint64_t{0x1fff});
      Value* special = b_.CreateICmpUGE(magnitude, ic(0x7f800000));
      Value* t = b_.CreateAnd(b_.CreateSelect(special, u, b_.CreateAdd(u, add)), cut);
      if (inst.has(Tok::satfinite)) {
        Value* infinite = b_.CreateICmpUGE(b_.CreateAnd(t, ic(0x7fffffff)), ic(0x7f800000));
        t = b_.CreateSelect(infinite, b_.CreateSub(t, ic(0x2000)), t);
      }
      if (inst.has(Tok::relu)) t = b_.CreateSelect(b_.CreateICmpSLT(u, ic(0)), ic(0), t);
      if (inst.has(Tok::rna)) return t;  // NaNs keep their payload
      return b_.CreateSelect(b_.CreateICmpUGT(magnitude, ic(0x7f800000)), ic(0x7fffe000), t);
    });
    return write(inst.ops[0], r, PType::b32);
  }
  if (to == PType::f16x2 || to == PType::bf16x2 || to == PType::e4m3x2 || to == PType::e5m2x2 ||
      to == PType::ue8m0x2)
    return lower_cvt_packed(inst);
  if (inst.type_count != 2 || !(fp(to) || ptx::is_int(to)) || !(fp(from) || ptx::is_int(from)))
    return fail(inst, "conversion from ." + std::string(ptx::name(from)) + " to ." +
                          std::string(ptx::name(to)) + " is not supported");
  Val a = read(inst.ops[1], half(from) ? PType::b16 : from);
  Val r = map({a}, [&](const std::vector<Value*>& in) -> Value* {
    Value* v = in[0];
    const bool vecs = v->getType()->isVectorTy();
    auto ty = [&](llvm::Type* t) { return vecs ? vec_type(t) : t; };
    if (ptx::is_int(from) && ptx::is_int(to)) {
      const unsigned fb = static_cast<unsigned>(bits_of(from)),
                     tb = static_cast<unsigned>(bits_of(to));
      llvm::Type* out = ty(int_type(tb));
      if (inst.has(Tok::sat)) {
        llvm::Type* w = ty(int_type(128));
        Value* x = ptx::is_signed(from) ? b_.CreateSExt(v, w) : b_.CreateZExt(v, w);
        APInt lo = ptx::is_signed(to) ? APInt::getSignedMinValue(tb).sext(128) : APInt(128, 0);
        APInt hi = ptx::is_signed(to) ? APInt::getSignedMaxValue(tb).sext(128)
                                      : APInt::getMaxValue(tb).zext(128);
        x = b_.CreateBinaryIntrinsic(Intrinsic::smax, x, ConstantInt::get(w, lo));
        x = b_.CreateBinaryIntrinsic(Intrinsic::smin, x, ConstantInt::get(w, hi));
        return b_.CreateTrunc(x, out);
      }
      if (tb <= fb) return b_.CreateTrunc(v, out);
      return ptx::is_signed(from) ? b_.CreateSExt(v, out) : b_.CreateZExt(v, out);
    }
    if (ptx::is_int(from)) {
      Value* x = int_to_float(inst, v, from, to);
      return half(to) ? x : saturate(inst, x);
    }
    if (half(from)) v = half_to_float(v, from == PType::bf16);
    if (from == PType::f32 && to != PType::f16) v = flush(inst, v);
    if (ptx::is_int(to)) return float_to_int(inst, v, to);
    // float to float
    const bool integral =
        inst.has(Tok::rni) || inst.has(Tok::rzi) || inst.has(Tok::rmi) || inst.has(Tok::rpi);
    if (integral) v = round_to_integral(inst, v);
    const int mode = round_mode(inst);
    if (to == PType::f64) {
      if (v->getType()->getScalarType()->isFloatTy()) {
        if (inst.has(Tok::ftz)) v = canonical_nan(v);
        v = b_.CreateFPExt(v, ty(b_.getDoubleTy()));
      }
      return saturate(inst, v);
    }
    if (to == PType::f32) {
      if (v->getType()->getScalarType()->isDoubleTy()) v = narrow_directed(v, mode);
      v = flush(inst, saturate(inst, v));
      return makes_canonical_nan(inst) ? f32_result(inst, v) : v;
    }
    if (inst.has(Tok::sat)) v = saturate(inst, v);
    Value* h = cvt_to_half(inst, v, to == PType::bf16);
    if (from != PType::f64 || inst.has(Tok::sat)) return h;
    // From f64 a NaN keeps its sign and the upper bits of its payload.
    Value* u = b_.CreateBitCast(v, ty(b_.getInt64Ty()));
    const bool bf16 = to == PType::bf16;
    Value* payload = b_.CreateTrunc(b_.CreateLShr(u, bf16 ? 45 : 42), ty(b_.getInt16Ty()));
    Value* sign = b_.CreateTrunc(b_.CreateLShr(u, 48), ty(b_.getInt16Ty()));
    Value* nan =
        b_.CreateOr(b_.CreateAnd(payload, bf16 ? 0x7f : 0x3ff),
                    b_.CreateOr(b_.CreateAnd(sign, 0x8000),
                                ConstantInt::get(ty(b_.getInt16Ty()), bf16 ? 0x7fc0 : 0x7e00)));
    return b_.CreateSelect(b_.CreateFCmpUNO(v, v), nan, h);
  });
  // Results narrower than the register: sign- or zero-extended as the type says.
  if (ptx::is_int(to) && inst.ops[0].kind == Operand::Kind::reg) {
    const unsigned tb = static_cast<unsigned>(bits_of(to));
    llvm::Type* rt = register_type(inst.ops[0].index);
    const unsigned rb = rt->getPrimitiveSizeInBits();
    if (rb > tb && ptx::is_signed(to)) {
      llvm::Type* wide = int_type(rb);
      r = map({r}, [&](const std::vector<Value*>& v) {
        return b_.CreateSExt(v[0], v[0]->getType()->isVectorTy() ? vec_type(wide) : wide);
      });
    }
  }
  write(inst.ops[0], r, half(to) ? PType::b16 : to);
}

/// mov: plain, packing {a,b} into a wider register, unpacking one into {a,b}.
void Lowering::lower_mov(const Inst& inst) {
  const PType t = inst.type();
  const Operand& d = inst.ops[0];
  const Operand& s = inst.ops[1];
  if (s.kind == Operand::Kind::vector) {
    const unsigned parts = static_cast<unsigned>(s.elems.size());
    const unsigned n = static_cast<unsigned>(bits_of(t)), each = n / parts;
    std::vector<Val> args;
    for (const Operand& e : s.elems) args.push_back(read_int(e, each));
    Val r = map(args, [&](const std::vector<Value*>& v) -> Value* {
      llvm::Type* w = int_type(n);
      if (v[0]->getType()->isVectorTy()) w = vec_type(w);
      Value* out = Constant::getNullValue(w);
      for (unsigned i = 0; i < parts; ++i)
        out = b_.CreateOr(out, b_.CreateShl(b_.CreateZExt(v[i], w), uint64_t{i} * each));
      return out;
    });
    return write(d, r, t);
  }
  if (d.kind == Operand::Kind::vector) {
    const unsigned parts = static_cast<unsigned>(d.elems.size());
    const unsigned n = static_cast<unsigned>(bits_of(t)), each = n / parts;
    Val a = cast(read(s, t), int_type(n));
    for (unsigned i = 0; i < parts; ++i) {
      if (d.elems[i].kind == Operand::Kind::sink) continue;
      Val r = map({a}, [&](const std::vector<Value*>& v) -> Value* {
        llvm::Type* w = int_type(each);
        if (v[0]->getType()->isVectorTy()) w = vec_type(w);
        return b_.CreateTrunc(b_.CreateLShr(v[0], uint64_t{i} * each), w);
      });
      write(d.elems[i], r, PType::b32);
    }
    return;
  }
  write(d, read(s, t), t);
}

}  // namespace limen::simt
