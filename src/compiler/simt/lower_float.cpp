// f32, f64 and half arithmetic. What the instruction writes (rounding, .ftz, .sat) is honoured
// exactly; nothing is contracted or reassociated. Approximations are in lower_math.cpp.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/TargetParser/Triple.h>

#include "compiler/simt/lower.h"
#include "compiler/simt/lower_math.h"

namespace limen::simt {

using namespace llvm;
using kernel::RoundedOp;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;
using PType = ptx::Type;

Value* Lowering::real(Value* v, double c) { return ConstantFP::get(v->getType(), c); }

Value* Lowering::intrinsic(unsigned id, std::vector<Value*> args) {
  return b_.CreateIntrinsic(static_cast<Intrinsic::ID>(id), {args[0]->getType()}, args);
}

/// Arithmetic for which the machine flushes where FTZ and DAZ are on. Everything else is made of
/// bit operations, comparisons or polynomials, which see subnormals as they are.
static bool flushed_by_machine(const ptx::Instruction& inst) {
  switch (inst.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::fma:
    case Op::mad:
    case Op::div:
    case Op::rcp:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::setp:
    case Op::set:
    case Op::slct:
      return true;
    default:
      return false;
  }
}

/// Subnormal f32 to a zero of the same sign, where the instruction says .ftz.
Value* Lowering::flush(const Inst& inst, Value* v) {
  if (!inst.has(Tok::ftz)) return v;
  if (!v->getType()->getScalarType()->isFloatTy()) return v;
  if (unit_.flush_by_mxcsr && flushed_by_machine(inst) && !isa<Constant>(v)) return v;
  // On the bits: comparisons may flush for themselves, and LLVM counts on it.
  Value* bits = cast(v, b_.getInt32Ty());
  auto mask = [&](uint64_t m) { return ConstantInt::get(bits->getType(), m); };
  Value* tiny = b_.CreateICmpEQ(b_.CreateAnd(bits, mask(0x7f800000)), mask(0));
  return b_.CreateBitCast(b_.CreateSelect(tiny, b_.CreateAnd(bits, mask(0x80000000)), bits),
                          v->getType());
}

Value* Lowering::canonical_nan(Value* v) {
  Value* f = cast(v, b_.getFloatTy());
  Value* bits = cast(v, b_.getInt32Ty());
  Value* one = ConstantInt::get(bits->getType(), 0x7fffffff);
  return b_.CreateBitCast(b_.CreateSelect(b_.CreateFCmpUNO(f, f), one, bits), v->getType());
}

Value* Lowering::quiet_nan(Value* v, Value* number) {
  const bool wide = v->getType()->getScalarType()->isDoubleTy();
  Value* bits = cast(v, int_type(wide ? 64 : 32));
  Value* quiet = b_.CreateOr(bits, uint64_t{1} << (wide ? 51 : 22));
  return b_.CreateSelect(b_.CreateFCmpUNO(v, v), b_.CreateBitCast(quiet, v->getType()), number);
}

/// Somebody may notice which of several f64 NaNs the instruction passes on, and LIMEN_EXACT_NAN
/// asks.
bool Lowering::chooses_nan(const Inst& inst) const {
  if (!unit_.exact_nan || inst.type() != PType::f64) return false;
  switch (inst.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::fma:
    case Op::mad:
      return inst.ops[0].kind != Operand::Kind::reg || !plan_.nans.compared.has(inst.ops[0].index);
    default:
      return false;
  }
}

/// `result`, or in lanes where it is a NaN the first NaN among the operands, made quiet. The device
/// looks at the second operand, then the third, then the first; a division at the first, then the
/// second. Measured: H200, driver 580.159.04, the f64 forms of tests/golden/float.golden. No order
/// of operands does that for this machine, whose multiply-add looks at a factor first, and the
/// assembler exchanges those of sums and products. A choice without the branch costs twice as much
/// (docs/design/simt.md).
Value* Lowering::chosen_nan(const Inst& inst, Value* result, const std::vector<Value*>& operands) {
  auto choose = [&] {
    const size_t n = operands.size(), first = inst.op == Op::div ? 0 : 1;
    Value* nan = result;
    // The NaN of numbers alone (0 / 0) is the machine's: x86-64 makes the device's.
    if (!Triple(unit_.module.getTargetTriple()).isX86()) {
      Value* made = ConstantInt::get(cast(result, b_.getInt64Ty())->getType(), 0xfff8ull << 48);
      nan = b_.CreateBitCast(made, result->getType());
    }
    for (size_t i = n; i-- > 0;) {
      Value* v = operands[(first + i) % n];
      nan = b_.CreateSelect(b_.CreateFCmpUNO(v, v), v, nan);
    }
    return std::vector{quiet_nan(nan, nan)};
  };
  return one_of(
      all(b_.CreateFCmpORD(result, result)), [&] { return std::vector{result}; }, choose)[0];
}

Value* Lowering::f32_result(const Inst& inst, Value* v) {
  const Operand& d = inst.ops[0];
  const bool later = d.kind == Operand::Kind::reg && plan_.nans.raw.has(d.index);
  return later || inst.has(Tok::sat) ? v : canonical_nan(v);
}

int Lowering::round_mode(const Inst& inst) const {
  if (inst.has(Tok::rz)) return 1;
  if (inst.has(Tok::rm)) return 2;
  if (inst.has(Tok::rp)) return 3;
  return 0;
}

Value* Lowering::saturate(const Inst& inst, Value* v) {
  if (!inst.has(Tok::sat)) return v;
  // [0, 1]; NaN becomes +0.
  Value* low = b_.CreateSelect(b_.CreateFCmpOGT(v, real(v, 0.0)), v, real(v, 0.0));
  return b_.CreateSelect(b_.CreateFCmpOLT(low, real(v, 1.0)), low, real(v, 1.0));
}

/// Applies `f` to pieces of `lanes` lanes (scalars and what is left over are widened).
Value* Lowering::in_pieces(unsigned lanes, const std::vector<Value*>& args,
                           const std::function<Value*(const std::vector<Value*>&)>& f) {
  llvm::Type* t = args[0]->getType();
  if (!t->isVectorTy()) {
    std::vector<Value*> in;
    for (Value* a : args) in.push_back(b_.CreateVectorSplat(lanes, a));
    return b_.CreateExtractElement(f(in), uint64_t{0});
  }
  const unsigned n = width();
  Value* whole = nullptr;
  for (unsigned at = 0; at < n; at += lanes) {
    std::vector<int> index;
    for (unsigned i = 0; i < lanes; ++i)
      index.push_back(static_cast<int>(at + i < n ? at + i : at));
    std::vector<Value*> in;
    for (Value* a : args) in.push_back(b_.CreateShuffleVector(a, index));
    Value* part = f(in);
    // Widened to n lanes, then laid over what is there.
    std::vector<int> wide, over;
    for (unsigned i = 0; i < n; ++i) {
      const bool here = i >= at && i < at + lanes;
      wide.push_back(here ? static_cast<int>(i - at) : -1);
      over.push_back(static_cast<int>(here ? n + i : i));
    }
    part = b_.CreateShuffleVector(part, wide);
    whole = whole ? b_.CreateShuffleVector(whole, part, over) : part;
  }
  return whole;
}

/// An operation with a rounding mode other than to nearest: AVX-512 has it in the instruction; AVX
/// gets it by the control word around the instruction; others go lane by lane through the engine's
/// helper.
Value* Lowering::rounded(const Inst& inst, RoundedOp op, std::vector<Value*> args) {
  llvm::Type* t = args[0]->getType();
  const bool f32 = t->getScalarType()->isFloatTy();
  const bool direct = op == RoundedOp::add || op == RoundedOp::sub || op == RoundedOp::mul ||
                      op == RoundedOp::fma || op == RoundedOp::div || op == RoundedOp::sqrt;
  if (direct && unit_.target.avx512)
    return in_pieces(f32 ? 16 : 8, args,
                     [&](const std::vector<Value*>& in) { return rounded_avx512(inst, op, in); });
  if (direct && unit_.target.avx2 && unit_.target.fma) {
    auto by_control_word = [&] {
      return in_pieces(f32 ? 8 : 4, args,
                       [&](const std::vector<Value*>& in) { return rounded_avx(inst, op, in); });
    };
    return op == RoundedOp::fma && f32 ? rounded_fma(inst, args, by_control_word)
                                       : by_control_word();
  }
  return rounded_by_helper(inst, op, args);
}

/// An f32 multiply-add whose addend and one factor are the same in all lanes, as where `expf` finds
/// an integer by `fma.rm x, 252, 12582913`: two loads of MXCSR take 40 cycles and nothing overlaps
/// them. Where the product is at most an eighth of the addend c, the sum s to nearest lies between
/// c / 2 and 2c, so that s - c is exact (Sterbenz), and a second multiply-add has the sign of what
/// the rounding left out. A factor of at least 1 keeps products of normal numbers normal, so that
/// no difference is flushed to zero. Other values: `general`.
Value* Lowering::rounded_fma(const Inst& inst, const std::vector<Value*>& args,
                             const std::function<Value*()>& general) {
  auto uniform = [](Value* v) { return v->getType()->isVectorTy() ? getSplatValue(v) : v; };
  Value* factor = uniform(args[1]) ? uniform(args[1]) : uniform(args[0]);
  Value* addend = uniform(args[2]);
  if (!factor || !addend) return general();
  auto abs = [&](Value* v) { return b_.CreateUnaryIntrinsic(Intrinsic::fabs, v); };
  auto wide = [&](Value* v) {
    return args[0]->getType()->isVectorTy() ? b_.CreateVectorSplat(width(), v) : v;
  };
  Value* size = abs(addend);
  Value* fits = b_.CreateAnd(b_.CreateFCmpOGE(size, real(size, 1.0)),
                             b_.CreateFCmpOLE(size, real(size, 0x1p100)));
  fits = b_.CreateAnd(fits, b_.CreateFCmpOGE(abs(factor), real(factor, 1.0)));
  Value* product = abs(b_.CreateFMul(args[0], args[1]));
  Value* small = b_.CreateFCmpOLE(product, wide(b_.CreateFMul(size, real(size, 0.125))));
  fits = b_.CreateAnd(fits, all(small));
  auto by_sign = [&] {
    llvm::Type* t = args[0]->getType();
    llvm::Type* it = like(args[0], b_.getInt32Ty());
    Value* sum = b_.CreateIntrinsic(Intrinsic::fma, {t}, {args[0], args[1], args[2]});
    Value* rounded_product = b_.CreateFSub(sum, args[2]);
    Value* rest = b_.CreateIntrinsic(Intrinsic::fma, {t},
                                     {args[0], args[1], b_.CreateFNeg(rounded_product)});
    // The sum has the addend's sign. One unit up or down, where the exact sum lies on the side
    // that the mode rounds to.
    Value* zero = real(rest, 0.0);
    Value* negative = wide(b_.CreateAShr(b_.CreateBitCast(addend, b_.getInt32Ty()), 31));
    Value* below = b_.CreateSExt(b_.CreateFCmpOLT(rest, zero), it);  // -1: the sum is too great
    Value* above = b_.CreateSExt(b_.CreateFCmpOGT(rest, zero), it);
    Value* step;  // of the magnitude's bits
    switch (round_mode(inst)) {
      case 1:
        step = b_.CreateSelect(b_.CreateICmpSLT(negative, ConstantInt::get(it, 0)), above, below);
        break;
      case 2:
        step = b_.CreateSub(b_.CreateXor(below, negative), negative);
        break;
      default:
        step = b_.CreateNeg(b_.CreateSub(b_.CreateXor(above, negative), negative));
        break;
    }
    return std::vector<Value*>{b_.CreateBitCast(b_.CreateAdd(b_.CreateBitCast(sum, it), step), t)};
  };
  return one_of(fits, by_sign, [&] { return std::vector<Value*>{general()}; })[0];
}

Value* Lowering::rounded_avx512(const Inst& inst, RoundedOp op, std::vector<Value*> in) {
  const bool f32 = in[0]->getType()->getScalarType()->isFloatTy();
  Intrinsic::ID id;
  switch (op) {
    case RoundedOp::add:
      id = f32 ? Intrinsic::x86_avx512_add_ps_512 : Intrinsic::x86_avx512_add_pd_512;
      break;
    case RoundedOp::sub:
      id = f32 ? Intrinsic::x86_avx512_sub_ps_512 : Intrinsic::x86_avx512_sub_pd_512;
      break;
    case RoundedOp::mul:
      id = f32 ? Intrinsic::x86_avx512_mul_ps_512 : Intrinsic::x86_avx512_mul_pd_512;
      break;
    case RoundedOp::div:
      id = f32 ? Intrinsic::x86_avx512_div_ps_512 : Intrinsic::x86_avx512_div_pd_512;
      break;
    case RoundedOp::sqrt:
      id = f32 ? Intrinsic::x86_avx512_sqrt_ps_512 : Intrinsic::x86_avx512_sqrt_pd_512;
      break;
    default:
      id = f32 ? Intrinsic::x86_avx512_vfmadd_ps_512 : Intrinsic::x86_avx512_vfmadd_pd_512;
      break;
  }
  constexpr uint32_t exact_mode = 8, to_mode[4] = {0, 3, 1, 2};
  in.push_back(b_.getInt32(exact_mode | to_mode[round_mode(inst)]));
  return b_.CreateIntrinsic(id, {}, in);
}

/// One instruction between two loads of MXCSR; nothing else can move in between.
Value* Lowering::rounded_avx(const Inst& inst, RoundedOp op, const std::vector<Value*>& in) {
  const bool f32 = in[0]->getType()->getScalarType()->isFloatTy();
  const char* name = op == RoundedOp::add   ? "vadd"
                     : op == RoundedOp::sub ? "vsub"
                     : op == RoundedOp::mul ? "vmul"
                     : op == RoundedOp::div ? "vdiv"
                                            : "vsqrt";
  const std::string suffix = f32 ? "ps " : "pd ";
  std::string text = "ldmxcsr $1\n\t", constraints;
  if (op == RoundedOp::fma) {
    text += "vfmadd213" + suffix + "$5, $4, $0";
    constraints = "=&x,*m,*m,0,x,x";
  } else if (op == RoundedOp::sqrt) {
    text += name + suffix + "$3, $0";
    constraints = "=&x,*m,*m,x";
  } else {
    text += name + suffix + "$4, $3, $0";
    constraints = "=&x,*m,*m,x,x";
  }
  text += "\n\tldmxcsr $2";
  constexpr uint32_t all_masked = 0x1f80, flush = 0x8040, to_mode[4] = {0, 0x6000, 0x2000, 0x4000};
  const uint32_t normal = all_masked | (unit_.flush_by_mxcsr ? flush : 0);
  std::vector<Value*> args{control_word(normal | to_mode[round_mode(inst)]), control_word(normal)};
  args.insert(args.end(), in.begin(), in.end());
  std::vector<llvm::Type*> types;
  for (Value* v : args) types.push_back(v->getType());
  auto* type = FunctionType::get(in[0]->getType(), types, false);
  CallInst* call = b_.CreateCall(InlineAsm::get(type, text, constraints, false), args);
  for (unsigned i = 0; i < 2; ++i)
    call->addParamAttr(i, Attribute::get(llvm_, Attribute::ElementType, b_.getInt32Ty()));
  return call;
}

/// A constant in memory, for ldmxcsr.
Value* Lowering::control_word(uint32_t value) {
  const std::string name = "mxcsr." + std::to_string(value);
  if (auto* known = unit_.module.getNamedGlobal(name)) return known;
  auto* word = new GlobalVariable(unit_.module, b_.getInt32Ty(), true, GlobalValue::PrivateLinkage,
                                  b_.getInt32(value), name);
  word->setAlignment(Align(4));
  return word;
}

Value* Lowering::rounded_by_helper(const Inst& inst, RoundedOp op,
                                   const std::vector<Value*>& args) {
  llvm::Type* t = args[0]->getType();
  llvm::Type* s = t->getScalarType();
  auto* ft = FunctionType::get(s, {b_.getInt32Ty(), b_.getInt32Ty(), s, s, s}, false);
  Value* fn = runtime(s->isFloatTy() ? offsetof(kernel::Runtime, rounded_f32)
                                     : offsetof(kernel::Runtime, rounded_f64));
  auto one = [&](std::vector<Value*> in) {
    while (in.size() < 3) in.push_back(ConstantFP::get(s, 0.0));
    return b_.CreateCall(
        ft, fn,
        {b_.getInt32(static_cast<uint32_t>(op)),
         b_.getInt32(static_cast<uint32_t>(round_mode(inst))), in[0], in[1], in[2]});
  };
  if (!t->isVectorTy()) return one(args);
  Value* r = PoisonValue::get(t);
  for (unsigned i = 0; i < width(); ++i) {
    std::vector<Value*> in;
    for (Value* a : args) in.push_back(b_.CreateExtractElement(a, uint64_t{i}));
    r = b_.CreateInsertElement(r, one(in), uint64_t{i});
  }
  return r;
}

/// PTX min/max: a NaN loses against a number, -0 is less than +0; with .NaN a NaN wins (canonical).
Value* Lowering::min_max(const Inst& inst, Value* a, Value* b, bool is_max) {
  llvm::Type* t = a->getType();
  llvm::Type* it = like(a, int_type(t->getScalarSizeInBits()));
  // Beside a constant LLVM 19 makes AArch64's fminnm of this, which answers NaN to a signalling one.
  if (!Triple(unit_.module.getTargetTriple()).isX86()) a = hidden(a), b = hidden(b);
  Value* less = is_max ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b);
  Value* r = b_.CreateSelect(less, a, b);
  Value* ia = b_.CreateBitCast(a, it);
  Value* ib = b_.CreateBitCast(b, it);
  Value* zero = b_.CreateBitCast(is_max ? b_.CreateAnd(ia, ib) : b_.CreateOr(ia, ib), t);
  r = b_.CreateSelect(b_.CreateFCmpOEQ(a, b), zero, r);
  Value* a_nan = b_.CreateFCmpUNO(a, a);
  Value* b_nan = b_.CreateFCmpUNO(b, b);
  if (inst.has(Tok::NaN)) {
    uint64_t canonical = t->getScalarType()->isFloatTy() ? 0x7fffffffu : 0x7fffffffffffffffu;
    Value* nan = b_.CreateBitCast(ConstantInt::get(it, canonical), t);
    return b_.CreateSelect(b_.CreateOr(a_nan, b_nan), nan, r);
  }
  // less is false with a NaN, so r is b: right when a is the NaN.
  if (!t->getScalarType()->isDoubleTy()) return b_.CreateSelect(b_nan, a, r);
  // Of two NaNs the second, made quiet.
  r = b_.CreateSelect(b_.CreateAnd(b_nan, b_.CreateNot(a_nan)), a, r);
  return quiet_nan(r, r);
}

Value* Lowering::half_to_float(Value* v, bool bf16) {
  llvm::Type* f = like(v, b_.getFloatTy());
  llvm::Type* i32 = like(v, b_.getInt32Ty());
  llvm::Type* half = like(v, llvm::Type::getHalfTy(llvm_));
  if (bf16) return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(v, i32), 16), f);
  return b_.CreateFPExt(b_.CreateBitCast(v, half), f);
}

/// An operand of a half-precision instruction: as f32, flushed where it says .ftz (f16 only).
Value* Lowering::half_operand(const Inst& inst, Value* v, bool bf16) {
  Value* f = half_to_float(v, bf16);
  if (bf16 || !inst.has(Tok::ftz)) return f;
  Value* tiny = b_.CreateFCmpOLT(b_.CreateUnaryIntrinsic(Intrinsic::fabs, f), real(f, 0x1p-14));
  return b_.CreateSelect(tiny, b_.CreateBinaryIntrinsic(Intrinsic::copysign, real(f, 0.0), f), f);
}

/// a + b rounded to odd: a rounding to fewer bits that follows is then the only one. Knuth's sum of
/// two finds the error, exactly where nothing overflows or is subnormal.
Value* Lowering::add_to_odd(Value* a, Value* b) {
  const unsigned n = a->getType()->getScalarSizeInBits();
  llvm::Type* it = like(a, int_type(n));
  Value* s = b_.CreateFAdd(a, b);
  Value* of_b = b_.CreateFSub(s, a);
  Value* error = b_.CreateFAdd(b_.CreateFSub(a, b_.CreateFSub(s, of_b)), b_.CreateFSub(b, of_b));
  Value* bits = b_.CreateBitCast(s, it);
  // Inexact: towards zero if the sum went too far, then the last bit is set.
  Value* inexact = b_.CreateSExt(b_.CreateFCmpONE(error, real(s, 0.0)), it);
  Value* opposite = b_.CreateAShr(b_.CreateXor(bits, b_.CreateBitCast(error, it)), n - 1);
  bits = b_.CreateAdd(bits, b_.CreateAnd(opposite, inexact));
  bits = b_.CreateOr(bits, b_.CreateLShr(inexact, n - 1));
  return b_.CreateBitCast(bits, s->getType());
}

/// float or double to f16/bf16 bits, to nearest even; NaN is canonical 0x7fff.
Value* Lowering::float_to_half(Value* v, bool bf16) {
  llvm::Type* i16 = like(v, b_.getInt16Ty());
  llvm::Type* i32 = like(v, b_.getInt32Ty());
  Value* nan = b_.CreateFCmpUNO(v, v);
  // Round to odd in f32 first, so that the second rounding is the only one.
  if (v->getType()->getScalarType()->isDoubleTy()) v = narrow_directed(v, 4);
  if (!bf16) {
    // The NaN before the conversion: one vector of floats is not yet packed there. Fenced: LLVM 19
    // takes an integer with few significant bits for exact in f16, however large.
    v = b_.CreateSelect(nan, ConstantInt::get(i32, 0x7fffffff), b_.CreateBitCast(v, i32));
    v = b_.CreateBitCast(v, like(v, b_.getFloatTy()));
    v = b_.CreateIntrinsic(Intrinsic::arithmetic_fence, {v->getType()}, {v});
    return b_.CreateBitCast(b_.CreateFPTrunc(v, like(v, llvm::Type::getHalfTy(llvm_))), i16);
  }
  Value* u = b_.CreateBitCast(v, i32);
  Value* lsb = b_.CreateAnd(b_.CreateLShr(u, 16), 1);
  Value* r = b_.CreateAdd(u, b_.CreateAdd(lsb, ConstantInt::get(i32, 0x7fff)));
  Value* bits16 = b_.CreateTrunc(b_.CreateLShr(r, 16), i16);
  return b_.CreateSelect(nan, ConstantInt::get(i16, 0x7fff), bits16);
}

/// Arithmetic on f16, bf16 and their packed pairs: exact in f32 (fma of bf16: in f64) or to odd,
/// rounded once. f16 has the range of 2^-48 to 2^33 for products and sums of them, so that no step
/// is subnormal in f32, whatever the machine does with such.
void Lowering::lower_half(const Inst& inst) {
  PType t = inst.op == Op::set ? inst.type(1) : inst.type();
  const bool packed = t == PType::f16x2 || t == PType::bf16x2;
  const bool bf16 = t == PType::bf16 || t == PType::bf16x2;
  std::vector<Val> args;
  size_t count = inst.ops.size();
  for (size_t i = 1; i < count; ++i)
    args.push_back((inst.op == Op::setp || inst.op == Op::set) && i == 3
                       ? read(inst.ops[i], PType::pred)
                       : read(inst.ops[i], packed ? PType::b32 : PType::b16));
  std::vector<Value*> predicates;
  auto one = [&](const std::vector<Value*>& in) -> Value* {
    llvm::Type* i16 = in[0]->getType();
    std::vector<Value*> f;
    for (Value* v : in)
      if (v->getType() == i16) f.push_back(half_operand(inst, v, bf16));
    llvm::Type* d = like(in[0], b_.getDoubleTy());
    // Two halves' product fits into an f32 with its exponent, of bf16 only into an f64.
    auto wide = [&](Value* v) { return bf16 ? b_.CreateFPExt(v, d) : v; };
    Value* r = nullptr;
    auto done = [&](Value* v) {
      if (inst.has(Tok::sat)) v = saturate(inst, v);
      Value* h = float_to_half(v, bf16);
      if (inst.has(Tok::relu)) {
        Value* neg = b_.CreateFCmpOLE(v, real(v, 0.0));
        h = b_.CreateSelect(neg, Constant::getNullValue(h->getType()), h);
      }
      if (inst.has(Tok::ftz)) {
        // Tiny before it is rounded: what rounding would lift to the smallest normal is flushed
        // too.
        Value* least = real(v, bf16 ? 0x1p-126 : 0x1p-14);
        Value* tiny = b_.CreateFCmpOLT(b_.CreateUnaryIntrinsic(Intrinsic::fabs, v), least);
        h = b_.CreateSelect(tiny, b_.CreateAnd(h, 0x8000), h);
      }
      return h;
    };
    switch (inst.op) {
      case Op::add:
        r = done(b_.CreateFAdd(f[0], f[1]));
        break;
      case Op::sub:
        r = done(b_.CreateFSub(f[0], f[1]));
        break;
      case Op::mul:
        r = done(b_.CreateFMul(f[0], f[1]));
        break;
      case Op::fma: {
        // The product is exact; the sum keeps what a second rounding needs to know.
        Value* p = b_.CreateFMul(wide(f[0]), wide(f[1]));
        r = done(add_to_odd(p, wide(f[2])));
        break;
      }
      case Op::neg:
        r = done(b_.CreateFNeg(f[0]));
        break;
      case Op::abs:
        r = done(b_.CreateUnaryIntrinsic(Intrinsic::fabs, f[0]));
        break;
      case Op::min:
      case Op::max: {
        for (Value*& x : f) {
          // Else LLVM compares the halves themselves, which it does by calling fmaxf.
          x = b_.CreateIntrinsic(Intrinsic::arithmetic_fence, {x->getType()}, {x});
          if (inst.has(Tok::abs)) x = b_.CreateUnaryIntrinsic(Intrinsic::fabs, x);
        }
        r = done(min_max(inst, f[0], f[1], inst.op == Op::max));
        if (!inst.has(Tok::xorsign)) break;
        Value* sign = b_.CreateAnd(b_.CreateXor(in[0], in[1]), 0x8000);
        Value* nan = b_.CreateICmpEQ(r, ConstantInt::get(i16, 0x7fff));
        r = b_.CreateSelect(nan, r, b_.CreateOr(r, sign));
        break;
      }
      case Op::ex2: {
        Value* e = ex2(f[0]);
        // Nothing below the smallest subnormal is rounded up to it.
        if (!bf16) e = b_.CreateSelect(b_.CreateFCmpOLT(e, real(e, 0x1p-24)), real(e, 0.0), e);
        r = done(e);
        break;
      }
      case Op::tanh:
        r = done(tanh(f[0]));
        break;
      default:
        fail(inst, "half-precision '" + std::string(ptx::name(inst.op)) + "' is not supported");
        r = in[0];
    }
    return r;
  };
  if (inst.op == Op::set || inst.op == Op::setp) {
    const PType dt = inst.op == Op::set ? inst.type(0) : PType::pred;
    bool uniform = true;
    for (const Val& v : args) uniform &= v.uniform();
    auto parts = [&](const Val& v, unsigned i) -> Value* {
      Value* x = uniform ? v.base : vec(v);
      llvm::Type* i16 = b_.getInt16Ty();
      if (!uniform) i16 = vec_type(i16);
      return half_operand(inst, b_.CreateTrunc(b_.CreateLShr(x, 16 * i), i16), bf16);
    };
    auto wrap = [&](Value* v) { return uniform ? Val::scalar(v) : Val::vector(v); };
    Value* p[2];
    for (unsigned i = 0; i < 2; ++i) {
      p[i] = compare(inst, PType::f32, parts(args[0], i), parts(args[1], i));
      if (args.size() > 2) p[i] = combined(inst, p[i], uniform ? args[2].base : vec(args[2]));
    }
    if (inst.op == Op::setp) {
      if (inst.ops[0].kind == Operand::Kind::pair) {
        write(inst.ops[0].elems[0], wrap(p[0]), dt);
        write(inst.ops[0].elems[1], wrap(p[1]), dt);
      } else {
        write(inst.ops[0], wrap(p[0]), dt);
      }
      return;
    }
    llvm::Type* i32 =
        uniform ? static_cast<llvm::Type*>(b_.getInt32Ty()) : vec_type(b_.getInt32Ty());
    Value* out = Constant::getNullValue(i32);
    for (unsigned i = 0; i < 2; ++i) {
      uint64_t yes = dt == PType::f16x2 ? 0x3c00 : dt == PType::bf16x2 ? 0x3f80 : 0xffff;
      out = b_.CreateOr(out, b_.CreateSelect(p[i], ConstantInt::get(i32, yes << (16 * i)),
                                             Constant::getNullValue(i32)));
    }
    return write(inst.ops[0], wrap(out), PType::b32);
  }
  Val r = map(args, [&](const std::vector<Value*>& v) -> Value* {
    if (!packed) return one(v);
    llvm::Type* i32 = v[0]->getType();
    if (!bf16 && i32->isVectorTy() && inst.op != Op::ex2 && inst.op != Op::tanh) {
      // As twice as many halves: nothing is taken apart.
      auto* all = FixedVectorType::get(b_.getInt16Ty(), 2 * width());
      std::vector<Value*> in;
      for (Value* x : v) in.push_back(b_.CreateBitCast(x, all));
      return b_.CreateBitCast(one(in), i32);
    }
    llvm::Type* i16 = b_.getInt16Ty();
    if (i32->isVectorTy()) i16 = vec_type(i16);
    Value* out = Constant::getNullValue(i32);
    for (unsigned i = 0; i < 2; ++i) {
      std::vector<Value*> in;
      for (Value* x : v) in.push_back(b_.CreateTrunc(b_.CreateLShr(x, 16 * i), i16));
      out = b_.CreateOr(out, b_.CreateShl(b_.CreateZExt(one(in), i32), 16 * i));
    }
    return out;
  });
  write(inst.ops[0], r, packed ? PType::b32 : PType::b16);
}

/// Arithmetic on two f32 in a 64-bit register: each half as the instruction for one does it.
void Lowering::lower_pair(const Inst& inst) {
  const int mode = round_mode(inst);
  std::vector<Val> args;
  for (size_t i = 1; i < inst.ops.size(); ++i) args.push_back(read(inst.ops[i], PType::b64));
  auto one = [&](const std::vector<Value*>& v) -> Value* {
    switch (inst.op) {
      case Op::add:
        return mode ? rounded(inst, RoundedOp::add, {v[1], v[0]}) : b_.CreateFAdd(v[1], v[0]);
      case Op::sub:
        return mode ? rounded(inst, RoundedOp::sub, {v[0], v[1]}) : b_.CreateFSub(v[0], v[1]);
      case Op::mul:
        return mode ? rounded(inst, RoundedOp::mul, {v[1], v[0]}) : b_.CreateFMul(v[1], v[0]);
      default:
        if (mode) return rounded(inst, RoundedOp::fma, v);
        return b_.CreateIntrinsic(Intrinsic::fma, {v[0]->getType()}, v);
    }
  };
  Val r = map(args, [&](const std::vector<Value*>& in) -> Value* {
    llvm::Type* i32 = b_.getInt32Ty();
    llvm::Type* f32 = b_.getFloatTy();
    if (in[0]->getType()->isVectorTy()) i32 = vec_type(i32), f32 = vec_type(f32);
    Value* out = nullptr;
    for (unsigned shift : {0u, 32u}) {
      std::vector<Value*> v;
      for (Value* x : in)
        v.push_back(
            flush(inst, b_.CreateBitCast(b_.CreateTrunc(b_.CreateLShr(x, shift), i32), f32)));
      Value* half = cast(canonical_nan(flush(inst, one(v))), b_.getInt32Ty());
      half = b_.CreateShl(b_.CreateZExt(half, in[0]->getType()), shift);
      out = out ? b_.CreateOr(out, half) : half;
    }
    return out;
  });
  write(inst.ops[0], r, PType::b64);
}

bool Lowering::lower_float(const Inst& inst) {
  if (!inst.type_count) return false;
  const PType t = inst.type();
  if (t == PType::f16 || t == PType::f16x2 || t == PType::bf16 || t == PType::bf16x2) {
    switch (inst.op) {
      case Op::add:
      case Op::sub:
      case Op::mul:
      case Op::fma:
      case Op::neg:
      case Op::abs:
      case Op::min:
      case Op::max:
      case Op::ex2:
      case Op::tanh:
        return lower_half(inst), true;
      default:
        return false;
    }
  }
  if (t == PType::f32x2 &&
      (inst.op == Op::add || inst.op == Op::sub || inst.op == Op::mul || inst.op == Op::fma))
    return lower_pair(inst), true;
  if (t != PType::f32 && t != PType::f64) return false;
  const int mode = round_mode(inst);
  std::vector<Val> args;
  for (size_t i = 1; i < inst.ops.size(); ++i) args.push_back(read(inst.ops[i], t));
  auto emit = [&](const std::function<Value*(std::vector<Value*>)>& f) {
    Val r = map(args, [&](const std::vector<Value*>& in) -> Value* {
      std::vector<Value*> v;
      for (Value* x : in) v.push_back(flush(inst, x));
      Value* r = flush(inst, saturate(inst, f(v)));
      if (chooses_nan(inst)) return chosen_nan(inst, r, v);
      return makes_canonical_nan(inst) ? f32_result(inst, r) : r;
    });
    write(inst.ops[0], r, t);
    return true;
  };
  switch (inst.op) {
    case Op::add:
      return emit([&](auto v) {
        // Of two NaNs the device keeps the second operand's, this machine mostly the first's (f64).
        return mode ? rounded(inst, RoundedOp::add, {v[1], v[0]}) : b_.CreateFAdd(v[1], v[0]);
      });
    case Op::sub:
      return emit([&](auto v) {
        return mode ? rounded(inst, RoundedOp::sub, {v[0], v[1]}) : b_.CreateFSub(v[0], v[1]);
      });
    case Op::mul:
      return emit([&](auto v) {
        return mode ? rounded(inst, RoundedOp::mul, {v[1], v[0]}) : b_.CreateFMul(v[1], v[0]);
      });
    case Op::fma:
    case Op::mad:
      return emit([&](auto v) -> Value* {
        if (mode) return rounded(inst, RoundedOp::fma, {v[0], v[1], v[2]});
        return b_.CreateIntrinsic(Intrinsic::fma, {v[0]->getType()}, {v[0], v[1], v[2]});
      });
    case Op::div:
      return emit([&](auto v) {
        if (inst.has(Tok::approx)) return divide_approx(v[0], v[1]);
        // Hidden: with AVX-512, LLVM 19 takes x / 0 of a known small integer's bits for 0.
        return mode ? rounded(inst, RoundedOp::div, {v[0], v[1]})
                    : b_.CreateFDiv(v[0], hidden(v[1]));
      });
    case Op::rcp:
      return emit([&](auto v) {
        if (inst.has(Tok::approx) && t == PType::f64) return upper_half_f64(inst, v[0]);
        return mode ? rounded(inst, RoundedOp::div, {real(v[0], 1.0), v[0]})
                    : b_.CreateFDiv(real(v[0], 1.0), v[0]);
      });
    case Op::sqrt:
      return emit([&](auto v) {
        return mode ? rounded(inst, RoundedOp::sqrt, {v[0]})
                    : b_.CreateUnaryIntrinsic(Intrinsic::sqrt, v[0]);
      });
    case Op::rsqrt:
      return emit([&](auto v) {
        if (t == PType::f64)
          return inst.has(Tok::ftz) ? upper_half_f64(inst, v[0]) : rsqrt_f64(v[0]);
        return b_.CreateFDiv(real(v[0], 1.0), b_.CreateUnaryIntrinsic(Intrinsic::sqrt, v[0]));
      });
    case Op::neg:
    case Op::abs: {
      // A NaN of f64 keeps its sign, so a bit operation will not do where it may be noticed.
      const bool reg = t == PType::f64 && inst.ops[0].kind == Operand::Kind::reg;
      const ptx::Index d = inst.ops[0].index;
      const bool any = reg && plan_.nans.compared.has(d);
      if (inst.op == Op::abs)
        return emit([&](auto v) {
          Value* r = b_.CreateUnaryIntrinsic(Intrinsic::fabs, v[0]);
          return reg && !any ? quiet_nan(v[0], r) : r;
        });
      const bool plain = any || (reg && plan_.nans.summed.has(d) && !unit_.exact_nan);
      return emit([&](auto v) -> Value* {
        if (!reg || plain) return b_.CreateFNeg(v[0]);
        // Fenced, or LLVM would make it a sign change again.
        Value* zero =
            b_.CreateIntrinsic(Intrinsic::arithmetic_fence, {v[0]->getType()}, {real(v[0], -0.0)});
        return b_.CreateFSub(zero, v[0]);
      });
    }
    case Op::copysign:
      // copysign d, a, b: sign of a, magnitude of b.
      return emit(
          [&](auto v) { return b_.CreateBinaryIntrinsic(Intrinsic::copysign, v[1], v[0]); });
    case Op::min:
    case Op::max:
      return emit([&](auto v) {
        Value* signs = nullptr;
        if (inst.has(Tok::abs)) {
          signs = b_.CreateXor(cast(v[0], b_.getInt32Ty()), cast(v[1], b_.getInt32Ty()));
          for (Value*& x : v) x = b_.CreateUnaryIntrinsic(Intrinsic::fabs, x);
        }
        Value* r = min_max(inst, v[0], v[1], inst.op == Op::max);
        if (v.size() > 2) r = min_max(inst, r, v[2], inst.op == Op::max);
        if (!inst.has(Tok::xorsign)) return r;
        Value* bits = b_.CreateOr(cast(r, b_.getInt32Ty()), b_.CreateAnd(signs, 0x80000000u));
        return cast(bits, b_.getFloatTy());
      });
    case Op::ex2:
      if (t == PType::f32 && inst.has(Tok::ftz)) {
        // A subnormal exponent gives 1 as zero does.
        Val r = map(args, [&](const std::vector<Value*>& in) {
          return f32_result(inst, ex2_flushed(b_, in[0]));
        });
        write(inst.ops[0], r, t);
        return true;
      }
      return emit([&](auto v) { return ex2(v[0]); });
    case Op::lg2:
      return emit([&](auto v) { return lg2(v[0]); });
    case Op::sin:
      return emit([&](auto v) { return sin_cos(v[0], false); });
    case Op::cos:
      return emit([&](auto v) { return sin_cos(v[0], true); });
    case Op::tanh:
      return emit([&](auto v) { return tanh(v[0]); });
    case Op::testp: {
      Val r = map(args, [&](const std::vector<Value*>& v) -> Value* {
        // On the bits: comparisons take a subnormal for zero where the machine flushes.
        const bool wide = t == PType::f64;
        Value* bits = cast(v[0], int_type(wide ? 64 : 32));
        auto number = [&](uint64_t c) { return ConstantInt::get(bits->getType(), c); };
        Value* magnitude = b_.CreateAnd(bits, number(wide ? INT64_MAX : INT32_MAX));
        Value* inf = number(wide ? 0x7ff0000000000000 : 0x7f800000);
        Value* least = number(wide ? 0x0010000000000000 : 0x00800000);  // of the normal ones
        if (inst.has(Tok::finite)) return b_.CreateICmpULT(magnitude, inf);
        if (inst.has(Tok::infinite)) return b_.CreateICmpEQ(magnitude, inf);
        if (inst.has(Tok::number)) return b_.CreateICmpULE(magnitude, inf);
        if (inst.has(Tok::notanumber)) return b_.CreateICmpUGT(magnitude, inf);
        Value* small = b_.CreateICmpULT(magnitude, least);
        Value* zero = b_.CreateICmpEQ(magnitude, number(0));
        if (inst.has(Tok::subnormal)) return b_.CreateAnd(small, b_.CreateNot(zero));
        // PTX counts zero as normal (PTX ISA 9.0, 9.7.3.2).
        return b_.CreateOr(b_.CreateAnd(b_.CreateNot(small), b_.CreateICmpULT(magnitude, inf)),
                           zero);
      });
      write(inst.ops[0], r, PType::pred);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace limen::simt
