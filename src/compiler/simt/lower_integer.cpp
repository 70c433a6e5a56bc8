// Integer, logic, shift, comparison and selection instructions. The linear ones (add, mul, mad,
// shl, and, or, ...) keep scalar + offsets as transfer() in shape.cpp promises.
#include <llvm/IR/IntrinsicInst.h>

#include <bit>

#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;
using PType = ptx::Type;

namespace {

PType wide_of(PType t) {
  switch (t) {
    case PType::u16:
      return PType::u32;
    case PType::s16:
      return PType::s32;
    case PType::u32:
      return PType::u64;
    default:
      return PType::s64;
  }
}

/// ptxas 13.0 folds `bfe.s32` with a constant position of 32 and more to all ones, whatever the
/// value, where the instruction with registers gives its sign. Recorded
/// (tests/golden/integer.golden, driver 580.159.04): lengths of 1 and more, positions 32, 63, 64
/// and 255; .u32, .s64, .u64 and bfi fold nothing. Not recorded, and so not imitated: a length of 0
/// or in a register, and constants that reach the instruction through registers, which ptxas folds
/// or not by its optimisation level.
bool folded_to_ones(const ptx::Instruction& inst) {
  constexpr int64_t looked_at = 255;  // bits of a count
  const ptx::Operand &position = inst.ops[2], &length = inst.ops[3];
  return inst.type() == PType::s32 && position.kind == ptx::Operand::Kind::imm &&
         length.kind == ptx::Operand::Kind::imm && (position.bits & looked_at) >= 32 &&
         (length.bits & looked_at) != 0;
}

}  // namespace

/// What shape.cpp computed lane by lane.
bool Lowering::write_known_lanes(const Inst& inst) {
  switch (inst.op) {
    case Op::min:
    case Op::max:
    case Op::shl:
    case Op::shr:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::div:
    case Op::rem:
      break;
    default:
      return false;
  }
  const PType t = inst.type();
  if (scalar_mode() || !ptx::is_int(t)) return false;
  const Shape shape = transfer_of(inst);
  const auto base = shape.known_base();
  if (!base) return false;
  Val v = Val::scalar(ConstantInt::get(scalar_type(t), static_cast<uint64_t>(*base), true));
  v.offsets = shape.offsets;
  write(inst.ops[0], v, t);
  return true;
}

/// add, sub, neg, not, mul, mad, shl, shr, and, or, xor, cvta, mov and selp where the result is
/// shaped.
bool Lowering::lower_linear(const Inst& inst) {
  const PType t = inst.type();
  const uint32_t n = static_cast<uint32_t>(bits_of(t));
  const Shape shape = transfer_of(inst);
  if (!shape.shaped() || scalar_mode()) return false;
  if (inst.op == Op::shr && is_constant(shape)) {
    // Of one value even where the operand's lanes differ (shift_right).
    auto* number = ConstantInt::get(int_type(n), static_cast<uint64_t>(shape.low), true);
    return write(inst.ops[0], Val::scalar(number), t), true;
  }
  if (shape.uniform()) {
    bool all = true;
    for (size_t i = 1; i < inst.ops.size(); ++i) {
      if (inst.ops[i].kind == Operand::Kind::vector) return false;
      all &= shape_of_operand(inst.ops[i], plan_.shapes, unit_.launch, fn_, n).uniform();
    }
    if (all && inst.op != Op::mov) return false;  // the generic path computes on scalars
  }
  Val r;
  auto inherit = [&](const Val& a) {
    if (a.correction) r.correction = a.correction, r.exact = a.exact;
  };
  auto combine = [&](const Val& a, const Val& b, bool subtract) {
    r.base = subtract ? b_.CreateSub(a.base, b.base) : b_.CreateAdd(a.base, b.base);
    if (!a.correction && !b.correction) return;
    if (a.correction && b.correction) {
      r.correction = subtract ? b_.CreateSub(a.correction, b.correction)
                              : b_.CreateAdd(a.correction, b.correction);
      r.exact = b_.CreateAnd(a.exact, b.exact);
    } else if (a.correction) {
      r.correction = a.correction, r.exact = a.exact;
    } else {
      r.correction = subtract ? b_.CreateNeg(b.correction) : b.correction;
      r.exact = b.exact;
    }
  };
  /// One factor is a compile-time constant or both are uniform.
  auto product = [&](const Val& a, const Val& b) {
    Val p;
    p.base = b_.CreateMul(a.base, b.base);
    const Val* lanes = a.uniform() ? &b : &a;
    const Val* factor = a.uniform() ? &a : &b;
    if (lanes->uniform()) return p;
    auto* c = cast_or_null<ConstantInt>(dyn_cast<ConstantInt>(factor->base));
    int64_t f = c ? c->getSExtValue() : 0;
    for (int64_t o : lanes->offsets)
      p.offsets.push_back(
          static_cast<int64_t>(static_cast<uint64_t>(o) * static_cast<uint64_t>(f)));
    if (lanes->correction) {
      p.correction = b_.CreateMul(lanes->correction, splat(factor->base));
      p.exact = lanes->exact;
    }
    return p;
  };
  /// Widens i32 to i64 as scalar + offsets; where a lane may wrap, with its correction.
  auto widened = [&](const Val& a, bool is_signed, uint32_t to) {
    llvm::Type* wide = int_type(to);
    Val w;
    w.base = is_signed ? b_.CreateSExt(a.base, wide) : b_.CreateZExt(a.base, wide);
    w.offsets = a.offsets;
    return w;
  };
  auto guard = [&](Val& w, const Val& a, bool is_signed) {
    // exact: no lane wraps, decided on the scalar; the correction is only computed where needed.
    int64_t low = 0, high = 0;
    for (int64_t o : a.offsets) low = std::min(low, o), high = std::max(high, o);
    llvm::Type* i64 = b_.getInt64Ty();
    Value* sum_low = b_.CreateAdd(w.base, ConstantInt::get(i64, static_cast<uint64_t>(low), true));
    Value* sum_high =
        b_.CreateAdd(w.base, ConstantInt::get(i64, static_cast<uint64_t>(high), true));
    int64_t min = is_signed ? INT32_MIN : 0, max = is_signed ? INT32_MAX : int64_t{UINT32_MAX};
    w.exact = b_.CreateAnd(
        b_.CreateICmpSGE(sum_low, ConstantInt::get(i64, static_cast<uint64_t>(min), true)),
        b_.CreateICmpSLE(sum_high, ConstantInt::get(i64, static_cast<uint64_t>(max), true)));
    Value* lanes32 = vec(a);
    Value* truth =
        is_signed ? b_.CreateSExt(lanes32, vec_type(i64)) : b_.CreateZExt(lanes32, vec_type(i64));
    Value* planned = b_.CreateAdd(splat(w.base), offsets_vector(w.offsets, i64));
    w.correction = b_.CreateSub(truth, planned);
  };

  // A register moved as a float stays an integer with a shape.
  auto read_bits = [&](const Operand& o) {
    Val v = o.kind == Operand::Kind::reg ? read_int(o, n) : read(o, t);
    if (v.base) v.base = cast(v.base, int_type(n));
    return v;
  };

  switch (inst.op) {
    case Op::mov:
    case Op::cvta:
      r = read_bits(inst.ops[1]);
      break;
    case Op::add:
    case Op::sub:
      combine(read(inst.ops[1], t), read(inst.ops[2], t), inst.op == Op::sub);
      break;
    case Op::neg:
      combine(Val::scalar(b_.getIntN(n, 0)), read(inst.ops[1], t), true);
      break;
    case Op::not_:
      combine(Val::scalar(Constant::getAllOnesValue(int_type(n))), read(inst.ops[1], t), true);
      break;
    case Op::mul:
    case Op::mad: {
      Val p;
      if (inst.has(Tok::wide)) {
        const bool sg = ptx::is_signed(t);
        Val a = read(inst.ops[1], t), c = read(inst.ops[2], t);
        Val wa = widened(a, sg, n * 2), wc = widened(c, sg, n * 2);
        Shape sa = shape_of_operand(inst.ops[1], plan_.shapes, unit_.launch, fn_, n);
        Shape sc = shape_of_operand(inst.ops[2], plan_.shapes, unit_.launch, fn_, n);
        auto needs = [&](const Shape& s) {
          bool known = (s.low != INT64_MIN || s.high != INT64_MAX) && (sg || s.low >= 0);
          return !s.uniform() && !known;
        };
        if (needs(sa)) guard(wa, a, sg);
        if (needs(sc)) guard(wc, c, sg);
        p = product(wa, wc);
      } else {
        p = product(read(inst.ops[1], t), read(inst.ops[2], t));
      }
      if (inst.op == Op::mul) {
        r = p;
      } else {
        Val c = read(inst.ops[3], inst.has(Tok::wide) ? wide_of(t) : t);
        combine(p, c, false);
      }
      break;
    }
    case Op::shl: {
      Val a = read(inst.ops[1], t);
      auto* k = dyn_cast<ConstantInt>(read(inst.ops[2], PType::u32).base);
      uint64_t s = k ? k->getZExtValue() : 0;
      r.base = b_.CreateShl(a.base, s);
      if (a.correction) {
        r.correction = b_.CreateShl(a.correction, s);
        r.exact = a.exact;
      }
      break;
    }
    case Op::shr: {
      Val a = read(inst.ops[1], t);
      auto* k = dyn_cast<ConstantInt>(read(inst.ops[2], PType::u32).base);
      uint64_t s = k ? k->getZExtValue() : 0;
      r.base = ptx::is_signed(t) ? b_.CreateAShr(a.base, s) : b_.CreateLShr(a.base, s);
      break;
    }
    case Op::and_:
    case Op::or_:
    case Op::xor_: {
      Val a = read(inst.ops[1], t), c = read(inst.ops[2], t);
      size_t which = 1;
      if (a.uniform() && !c.uniform()) std::swap(a, c), which = 2;
      Shape sa = shape_of_operand(inst.ops[which], plan_.shapes, unit_.launch, fn_, n);
      uint64_t low = sa.base_zeros >= 63 ? ~uint64_t{0} : (uint64_t{1} << sa.base_zeros) - 1;
      auto* m = dyn_cast<ConstantInt>(c.base);
      uint64_t upper = (m ? m->getZExtValue() : 0) & ~low;
      Value* upper_value = ConstantInt::get(a.base->getType(), upper);
      r.base = inst.op == Op::and_  ? b_.CreateAnd(a.base, upper_value)
               : inst.op == Op::or_ ? b_.CreateOr(a.base, upper_value)
                                    : b_.CreateXor(a.base, upper_value);
      break;
    }
    case Op::selp: {
      Val p = read(inst.ops[3], PType::pred), a = read_bits(inst.ops[1]),
          c = read_bits(inst.ops[2]);
      r.base = b_.CreateSelect(p.base, a.base, c.base);
      if (shape.guarded) {
        Value* zero = Constant::getNullValue(vec_type(b_.getInt64Ty()));
        r.correction = b_.CreateSelect(p.base, a.correction ? a.correction : zero,
                                       c.correction ? c.correction : zero);
        r.exact = b_.CreateSelect(p.base, a.exact ? a.exact : b_.getTrue(),
                                  c.exact ? c.exact : b_.getTrue());
      }
      break;
    }
    case Op::cvt: {
      PType from = inst.type(1);
      Val a = read(inst.ops[1], from);
      uint32_t fb = static_cast<uint32_t>(bits_of(from));
      const bool sg = ptx::is_signed(from);
      if (n > fb) {
        r = widened(a, sg, n);
        if (shape.guarded) guard(r, a, sg);
      } else {
        r = fit(a, scalar_type(t));
      }
      break;
    }
    default:
      return false;
  }
  r.offsets = shape.offsets;
  (void)inherit;
  PType out = inst.has(Tok::wide) && (inst.op == Op::mul || inst.op == Op::mad) ? wide_of(t) : t;
  write(inst.ops[0], r, out);
  return true;
}

Value* Lowering::divide(const Inst& inst, Value* a, Value* b, bool is_signed, bool remainder) {
  llvm::Type* t = a->getType();
  const unsigned n = t->getScalarSizeInBits();
  if (auto* c = dyn_cast<Constant>(b)) {
    // Lanes that differ have no splat.
    auto* s =
        llvm::dyn_cast_or_null<ConstantInt>(c->getType()->isVectorTy() ? c->getSplatValue() : c);
    if (s && !s->isZero() && !s->isMinusOne()) {
      if (remainder) return is_signed ? b_.CreateSRem(a, b) : b_.CreateURem(a, b);
      return is_signed ? b_.CreateSDiv(a, b) : b_.CreateUDiv(a, b);
    }
  }
  Value* zero = Constant::getNullValue(t);
  Value* ones = Constant::getAllOnesValue(t);
  Value* one = ConstantInt::get(t, 1);
  // The device does not trap: x / 0 and x % 0 are all ones, MIN / -1 is MIN, MIN % -1 is 0
  // (measured H200, driver 580.x: tests/programs/int_math).
  Value* by_zero = b_.CreateICmpEQ(b, zero);
  Value* min = ConstantInt::get(t, APInt::getSignedMinValue(n));
  Value* overflow =
      is_signed ? b_.CreateAnd(b_.CreateICmpEQ(a, min), b_.CreateICmpEQ(b, ones)) : nullptr;
  Value* safe = b_.CreateSelect(overflow ? b_.CreateOr(by_zero, overflow) : by_zero, one, b);
  // Hidden: LLVM 19 concludes from a quotient that its divisor was not 0 and carries that to where
  // the choice above is made.
  if (n >= 32) safe = hidden(safe);
  Value* q;
  if (t->isVectorTy() && n <= 32) {
    // Exact through double: the quotient of 32-bit integers is never close enough below an integer
    // to round up to it (distance at least 2^-32 of it).
    llvm::Type* d = vec_type(b_.getDoubleTy());
    Value* fa = is_signed ? b_.CreateSIToFP(a, d) : b_.CreateUIToFP(a, d);
    Value* fb = is_signed ? b_.CreateSIToFP(safe, d) : b_.CreateUIToFP(safe, d);
    Value* fq = b_.CreateFDiv(fa, fb);
    q = is_signed ? b_.CreateFPToSI(fq, t) : b_.CreateFPToUI(fq, t);
  } else {
    q = is_signed ? b_.CreateSDiv(a, safe) : b_.CreateUDiv(a, safe);
  }
  if (remainder) {
    Value* r = b_.CreateSub(a, b_.CreateMul(q, safe));
    if (overflow) r = b_.CreateSelect(overflow, zero, r);
    return b_.CreateSelect(by_zero, ones, r);
  }
  if (overflow) q = b_.CreateSelect(overflow, min, q);
  return b_.CreateSelect(by_zero, ones, q);
}

Value* Lowering::compare(const Inst& inst, PType t, Value* a, Value* b) {
  auto is = [&](Tok k) { return inst.has(k); };
  if (ptx::is_float(t)) {
    if (is(Tok::num)) return b_.CreateFCmpORD(a, b);
    if (is(Tok::nan)) return b_.CreateFCmpUNO(a, b);
    if (is(Tok::eq)) return b_.CreateFCmpOEQ(a, b);
    if (is(Tok::ne)) return b_.CreateFCmpONE(a, b);
    if (is(Tok::lt)) return b_.CreateFCmpOLT(a, b);
    if (is(Tok::le)) return b_.CreateFCmpOLE(a, b);
    if (is(Tok::gt)) return b_.CreateFCmpOGT(a, b);
    if (is(Tok::ge)) return b_.CreateFCmpOGE(a, b);
    if (is(Tok::equ)) return b_.CreateFCmpUEQ(a, b);
    if (is(Tok::neu)) return b_.CreateFCmpUNE(a, b);
    if (is(Tok::ltu)) return b_.CreateFCmpULT(a, b);
    if (is(Tok::leu)) return b_.CreateFCmpULE(a, b);
    if (is(Tok::gtu)) return b_.CreateFCmpUGT(a, b);
    if (is(Tok::geu)) return b_.CreateFCmpUGE(a, b);
    fail(inst, "comparison is not supported");
    return b_.CreateFCmpOEQ(a, b);
  }
  const bool sg = ptx::is_signed(t);
  if (is(Tok::eq)) return b_.CreateICmpEQ(a, b);
  if (is(Tok::ne)) return b_.CreateICmpNE(a, b);
  if (is(Tok::lo)) return b_.CreateICmpULT(a, b);
  if (is(Tok::ls)) return b_.CreateICmpULE(a, b);
  if (is(Tok::hi)) return b_.CreateICmpUGT(a, b);
  if (is(Tok::hs)) return b_.CreateICmpUGE(a, b);
  if (is(Tok::lt)) return sg ? b_.CreateICmpSLT(a, b) : b_.CreateICmpULT(a, b);
  if (is(Tok::le)) return sg ? b_.CreateICmpSLE(a, b) : b_.CreateICmpULE(a, b);
  if (is(Tok::gt)) return sg ? b_.CreateICmpSGT(a, b) : b_.CreateICmpUGT(a, b);
  if (is(Tok::ge)) return sg ? b_.CreateICmpSGE(a, b) : b_.CreateICmpUGE(a, b);
  fail(inst, "comparison is not supported");
  return b_.CreateICmpEQ(a, b);
}

/// A comparison combined with a third operand, .and .or .xor.
Value* Lowering::combined(const Inst& inst, Value* p, Value* third) {
  if (inst.has(Tok::and_)) return b_.CreateAnd(p, third);
  if (inst.has(Tok::or_)) return b_.CreateOr(p, third);
  return b_.CreateXor(p, third);
}

void Lowering::lower_setp(const Inst& inst) {
  const PType t = inst.op == Op::set ? inst.type(1) : inst.type();
  if (t == PType::f16x2 || t == PType::bf16x2) return lower_half(inst);
  Val a = read(inst.ops[1], t), b = read(inst.ops[2], t);
  const bool half = t == PType::f16 || t == PType::bf16;
  std::vector<Val> args{a, b};
  const bool three = inst.ops.size() > 3;
  if (three) args.push_back(read(inst.ops[3], PType::pred));
  const Shape shape = transfer_of(inst);
  Value* p = nullptr;
  Value* third = nullptr;
  bool uniform = true;
  for (const Val& v : args) uniform &= v.uniform();
  const int settled =
      uniform || three ? -1 : settled_comparison(inst, plan_.shapes, unit_.launch, fn_);
  if (settled >= 0) {
    p = b_.getInt1(settled != 0);
    uniform = true;
  } else if (!uniform && shape.uniform() && !three) {
    // Planned uniform although the operands are not: base and bound settle it, or all are known.
    const auto first_lane = [&](const Val& v) {
      const int64_t offset = v.offsets.empty() ? 0 : v.offsets[0];
      return b_.CreateAdd(v.base,
                          ConstantInt::get(v.base->getType(), static_cast<uint64_t>(offset), true));
    };
    p = compare(inst, t, first_lane(a), first_lane(b));
    uniform = true;
  } else {
    Value* x = uniform ? a.base : vec(a);
    Value* y = uniform ? b.base : vec(b);
    if (three) third = uniform ? args[2].base : vec(args[2]);
    if (half)
      x = half_operand(inst, x, t == PType::bf16), y = half_operand(inst, y, t == PType::bf16);
    if (!half && ptx::is_float(t) && inst.has(Tok::ftz)) x = flush(inst, x), y = flush(inst, y);
    p = compare(inst, t == PType::f16 || t == PType::bf16 ? PType::f32 : t, x, y);
  }
  auto merge = [&](Value* v) { return third ? combined(inst, v, third) : v; };
  auto wrap = [&](Value* v) { return uniform ? Val::scalar(v) : Val::vector(v); };
  if (inst.op == Op::set) {
    PType d = inst.type();
    Value* v = merge(p);
    llvm::Type* st = scalar_type(d);
    llvm::Type* full = uniform ? st : vec_type(st);
    Value* r;
    if (d == PType::f32 || d == PType::f64) {
      r = b_.CreateSelect(v, ConstantFP::get(full, 1.0), ConstantFP::get(full, 0.0));
    } else if (d == PType::f16 || d == PType::bf16) {
      r = b_.CreateSelect(v, ConstantInt::get(full, d == PType::f16 ? 0x3c00 : 0x3f80),
                          Constant::getNullValue(full));
    } else {
      r = b_.CreateSExt(v, full);
    }
    return write(inst.ops[0], wrap(r), d);
  }
  if (inst.ops[0].kind == Operand::Kind::pair) {
    write(inst.ops[0].elems[0], wrap(merge(p)), PType::pred);
    write(inst.ops[0].elems[1], wrap(merge(b_.CreateNot(p))), PType::pred);
    return;
  }
  write(inst.ops[0], wrap(merge(p)), PType::pred);
}

/// add.cc, addc, sub.cc, subc, mad.cc, madc: the carry is one more register.
void Lowering::lower_carry(const Inst& inst) {
  const PType t = inst.type();
  const bool with_in = inst.op == Op::addc || inst.op == Op::subc || inst.op == Op::madc;
  const bool is_mad = inst.op == Op::mad || inst.op == Op::madc;
  std::vector<Val> args;
  for (size_t i = 1; i < inst.ops.size(); ++i) args.push_back(read(inst.ops[i], t));
  if (with_in) args.push_back(read_reg(plan_.graph.carry()));
  Value* carry_out = nullptr;
  const bool subtract = inst.op == Op::sub || inst.op == Op::subc;
  bool uniform = true;
  for (const Val& v : args) uniform &= v.uniform();
  Val r = map(args, [&](const std::vector<Value*>& v) -> Value* {
    Value* a = v[0];
    Value* b = v[1];
    llvm::Type* ty = a->getType();
    const unsigned n = ty->getScalarSizeInBits();
    llvm::Type* wide = int_type(n * 2);
    if (ty->isVectorTy()) wide = vec_type(wide);
    size_t next = 2;
    if (is_mad) {
      Value* wa = ptx::is_signed(t) ? b_.CreateSExt(a, wide) : b_.CreateZExt(a, wide);
      Value* wb = ptx::is_signed(t) ? b_.CreateSExt(b, wide) : b_.CreateZExt(b, wide);
      Value* p = b_.CreateMul(wa, wb);
      if (inst.has(Tok::hi)) p = b_.CreateLShr(p, n);
      a = b_.CreateTrunc(p, ty);
      b = v[2];
      next = 3;
    }
    Value* in = with_in ? b_.CreateZExt(v[next], wide) : Constant::getNullValue(wide);
    // A subtraction adds the complement: its carry is set when nothing was borrowed, as on the
    // device, where sub.cc may feed addc.
    if (subtract) b = b_.CreateNot(b);
    if (subtract && !with_in) in = ConstantInt::get(wide, 1);
    Value* sum = b_.CreateAdd(b_.CreateAdd(b_.CreateZExt(a, wide), b_.CreateZExt(b, wide)), in);
    carry_out = b_.CreateICmpNE(b_.CreateLShr(sum, n), Constant::getNullValue(wide));
    return b_.CreateTrunc(sum, ty);
  });
  write(inst.ops[0], r, t);
  if (inst.has(Tok::cc))
    write_reg(plan_.graph.carry(), uniform ? Val::scalar(carry_out) : Val::vector(carry_out));
}

/// prmt.b32 in its plain and named modes, PTX ISA 9.0 9.7.9.7
/// #data-movement-and-conversion-instructions-prmt
Value* Lowering::permute_bytes(Value* a, Value* b, Value* sel, const Inst& inst) {
  llvm::Type* t = a->getType();
  llvm::Type* w = t->isVectorTy() ? vec_type(int_type(64)) : static_cast<llvm::Type*>(int_type(64));
  Value* both = b_.CreateOr(b_.CreateZExt(a, w), b_.CreateShl(b_.CreateZExt(b, w), 32));
  Value* out = Constant::getNullValue(t);
  Value* s3 = b_.CreateAnd(sel, 3);
  for (uint64_t i = 0; i < 4; ++i) {
    Value* nibble;
    auto k = [&](uint64_t v) { return ConstantInt::get(t, v); };
    if (inst.has(Tok::f4e))
      nibble = b_.CreateAdd(s3, k(i));
    else if (inst.has(Tok::b4e))
      nibble = b_.CreateAnd(b_.CreateSub(s3, k(i)), 7);
    else if (inst.has(Tok::rc8))
      nibble = s3;
    else if (inst.has(Tok::ecl))
      nibble = b_.CreateIntrinsic(Intrinsic::umax, {t}, {k(i), s3});
    else if (inst.has(Tok::ecr))
      nibble = b_.CreateIntrinsic(Intrinsic::umin, {t}, {k(i), s3});
    else if (inst.has(Tok::rc16))
      nibble = b_.CreateAdd(b_.CreateShl(b_.CreateAnd(sel, 1), 1), k(i & 1));
    else
      nibble = b_.CreateAnd(b_.CreateLShr(sel, 4 * i), 15);
    Value* byte_index = b_.CreateAnd(nibble, 7);
    Value* shift = b_.CreateZExt(b_.CreateShl(byte_index, 3), w);
    Value* byte = b_.CreateAnd(b_.CreateTrunc(b_.CreateLShr(both, shift), t), 255);
    Value* sign = b_.CreateICmpNE(b_.CreateAnd(byte, 128), Constant::getNullValue(t));
    Value* replicated = b_.CreateSelect(sign, k(255), Constant::getNullValue(t));
    Value* msb_mode = b_.CreateICmpNE(b_.CreateAnd(nibble, 8), Constant::getNullValue(t));
    byte = b_.CreateSelect(msb_mode, replicated, byte);
    out = b_.CreateOr(out, b_.CreateShl(byte, 8 * i));
  }
  return out;
}

/// fns: the position of the |offset|-th set bit from `base` on, upwards or (negative offset)
/// downwards; offset 0: `base` itself if its bit is set; all ones if there is none.
Value* Lowering::find_nth_set(Value* mask, Value* base, Value* offset) {
  llvm::Type* t = mask->getType();
  auto k = [&](uint64_t c) { return ConstantInt::get(t, c); };
  Value* down = b_.CreateICmpSLT(offset, k(0));
  Value* outside = b_.CreateICmpUGT(base, k(31));
  Value* start = b_.CreateAnd(base, k(31));
  // Downwards is upwards in the reversed word.
  Value* word = b_.CreateSelect(down, b_.CreateUnaryIntrinsic(Intrinsic::bitreverse, mask), mask);
  Value* from = b_.CreateSelect(down, b_.CreateSub(k(31), start), start);
  Value* left = b_.CreateAnd(word, b_.CreateShl(k(0xffffffff), from));
  Value* only = b_.CreateAnd(word, b_.CreateShl(k(1), from));
  left = b_.CreateSelect(b_.CreateICmpEQ(offset, k(0)), only, left);
  Value* count = b_.CreateSelect(down, b_.CreateNeg(offset), offset);
  for (uint64_t i = 1; i < 32; ++i) {
    Value* drop = b_.CreateICmpUGT(count, k(i));
    left = b_.CreateSelect(drop, b_.CreateAnd(left, b_.CreateSub(left, k(1))), left);
  }
  Value* at = b_.CreateBinaryIntrinsic(Intrinsic::cttz, left, b_.getFalse());
  at = b_.CreateSelect(down, b_.CreateSub(k(31), at), at);
  Value* none = b_.CreateOr(b_.CreateOr(outside, b_.CreateICmpEQ(left, k(0))),
                            b_.CreateICmpUGT(count, k(32)));
  at = b_.CreateSelect(none, k(0xffffffff), at);
  return b_.CreateSelect(b_.CreateICmpEQ(offset, k(0x80000000)), k(0), at);  // measured, H200
}

bool Lowering::lower_integer(const Inst& inst) {
  const PType t = inst.type_count ? inst.type() : PType::b32;
  if (inst.op == Op::setp || inst.op == Op::set) return lower_setp(inst), true;
  if (inst.op == Op::addc || inst.op == Op::subc || inst.op == Op::madc || inst.has(Tok::cc))
    return lower_carry(inst), true;
  if (inst.op == Op::cvt) {
    if (ptx::is_int(inst.type(0)) && ptx::is_int(inst.type(1)) && !inst.has(Tok::sat) &&
        lower_linear(inst))
      return true;
    return lower_cvt(inst), true;
  }
  if (inst.op == Op::mov) {
    if (inst.ops[0].kind == Operand::Kind::reg && inst.ops[1].kind != Operand::Kind::vector &&
        lower_linear(inst))
      return true;
    return lower_mov(inst), true;
  }
  if (write_known_lanes(inst)) return true;
  if (t == PType::f32 || t == PType::f64 || t == PType::f16 || t == PType::bf16 ||
      t == PType::f16x2 || t == PType::bf16x2 || t == PType::f32x2) {
    if (inst.op != Op::selp && inst.op != Op::slct) return false;
  }
  switch (inst.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::mad:
    case Op::shl:
    case Op::shr:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::cvta:
    case Op::selp:
    case Op::neg:
    case Op::not_:
      if (!inst.has(Tok::sat) && t != PType::pred && lower_linear(inst)) return true;
      break;
    default:
      break;
  }
  auto read_all = [&](std::initializer_list<PType> types) {
    std::vector<Val> a;
    size_t i = 1;
    for (PType p : types) a.push_back(read(inst.ops[i++], p));
    return a;
  };
  auto emit = [&](std::vector<Val> args, PType out,
                  const std::function<Value*(const std::vector<Value*>&)>& f) {
    write(inst.ops[0], map(args, f), out);
    return true;
  };
  const bool sg = ptx::is_signed(t) || t == PType::s16x2;
  auto zero = [](Value* like) { return Constant::getNullValue(like->getType()); };
  auto con = [](Value* like, uint64_t v) { return ConstantInt::get(like->getType(), v); };
  auto fit_bits = [&](Value* v, unsigned to) -> Value* {
    llvm::Type* ty = int_type(to);
    if (v->getType()->isVectorTy()) ty = vec_type(ty);
    return b_.CreateZExtOrTrunc(v, ty);
  };
  switch (inst.op) {
    case Op::cvta:
      return emit(read_all({t}), t, [](auto& v) { return v[0]; });
    case Op::add:
    case Op::sub:
      if (t == PType::u16x2 || t == PType::s16x2) {
        return emit(read_all({t, t}), t, [&](auto& v) -> Value* {
          llvm::Type* ty = v[0]->getType();
          Value* lo = inst.op == Op::add ? b_.CreateAdd(v[0], v[1]) : b_.CreateSub(v[0], v[1]);
          Value* ah = b_.CreateLShr(v[0], 16);
          Value* bh = b_.CreateLShr(v[1], 16);
          Value* hi = inst.op == Op::add ? b_.CreateAdd(ah, bh) : b_.CreateSub(ah, bh);
          return b_.CreateOr(b_.CreateAnd(lo, ConstantInt::get(ty, 0xffff)), b_.CreateShl(hi, 16));
        });
      }
      return emit(read_all({t, t}), t, [&](auto& v) -> Value* {
        if (inst.has(Tok::sat))
          return b_.CreateBinaryIntrinsic(
              inst.op == Op::add ? Intrinsic::sadd_sat : Intrinsic::ssub_sat, v[0], v[1]);
        return inst.op == Op::add ? b_.CreateAdd(v[0], v[1]) : b_.CreateSub(v[0], v[1]);
      });
    case Op::mul:
    case Op::mad: {
      std::vector<Val> args = read_all({t, t});
      const bool wide = inst.has(Tok::wide), hi = inst.has(Tok::hi);
      PType out = wide ? wide_of(t) : t;
      if (inst.op == Op::mad) args.push_back(read(inst.ops[3], out));
      return emit(args, out, [&](auto& v) -> Value* {
        llvm::Type* ty = v[0]->getType();
        const unsigned n = ty->getScalarSizeInBits();
        Value* p;
        if (wide || hi) {
          llvm::Type* w = int_type(n * 2);
          if (ty->isVectorTy()) w = vec_type(w);
          Value* a = sg ? b_.CreateSExt(v[0], w) : b_.CreateZExt(v[0], w);
          Value* b = sg ? b_.CreateSExt(v[1], w) : b_.CreateZExt(v[1], w);
          p = b_.CreateMul(a, b);
          if (hi) p = b_.CreateTrunc(b_.CreateLShr(p, n), ty);
        } else {
          p = b_.CreateMul(v[0], v[1]);
        }
        if (inst.op == Op::mul) return p;
        if (inst.has(Tok::sat)) return b_.CreateBinaryIntrinsic(Intrinsic::sadd_sat, p, v[2]);
        return b_.CreateAdd(p, v[2]);
      });
    }
    case Op::mul24:
    case Op::mad24: {
      std::vector<Val> args = read_all({t, t});
      if (inst.op == Op::mad24) args.push_back(read(inst.ops[3], t));
      return emit(args, t, [&](auto& v) -> Value* {
        llvm::Type* w = int_type(64);
        llvm::Type* ty = v[0]->getType();
        if (ty->isVectorTy()) w = vec_type(w);
        auto low24 = [&](Value* x) {
          Value* up = b_.CreateShl(x, 8);
          Value* cut = sg ? b_.CreateAShr(up, 8) : b_.CreateLShr(up, 8);
          return sg ? b_.CreateSExt(cut, w) : b_.CreateZExt(cut, w);
        };
        Value* p = b_.CreateMul(low24(v[0]), low24(v[1]));
        if (inst.has(Tok::hi)) p = b_.CreateLShr(p, 16);
        Value* r = b_.CreateTrunc(p, ty);
        if (inst.op == Op::mul24) return r;
        if (inst.has(Tok::sat)) return b_.CreateBinaryIntrinsic(Intrinsic::sadd_sat, r, v[2]);
        return b_.CreateAdd(r, v[2]);
      });
    }
    case Op::div:
    case Op::rem:
      return emit(read_all({t, t}), t,
                  [&](auto& v) { return divide(inst, v[0], v[1], sg, inst.op == Op::rem); });
    case Op::sad:
      return emit(read_all({t, t, t}), t, [&](auto& v) -> Value* {
        Value* lt = sg ? b_.CreateICmpSLT(v[0], v[1]) : b_.CreateICmpULT(v[0], v[1]);
        Value* d = b_.CreateSelect(lt, b_.CreateSub(v[1], v[0]), b_.CreateSub(v[0], v[1]));
        return b_.CreateAdd(v[2], d);
      });
    case Op::abs:
      return emit(read_all({t}), t, [&](auto& v) -> Value* {
        return b_.CreateSelect(b_.CreateICmpSLT(v[0], zero(v[0])), b_.CreateNeg(v[0]), v[0]);
      });
    case Op::neg:
      return emit(read_all({t}), t, [&](auto& v) { return b_.CreateNeg(v[0]); });
    case Op::min:
    case Op::max:
      if (const size_t which =
              scalar_mode() ? 0 : settled_operand(inst, plan_.shapes, unit_.launch, fn_)) {
        write(inst.ops[0], read(inst.ops[which], t), t);
        return true;
      }
      if (t == PType::u16x2 || t == PType::s16x2) {
        return emit(read_all({t, t}), t, [&](auto& v) -> Value* {
          Value* out = zero(v[0]);
          for (unsigned i = 0; i < 2; ++i) {
            Value* a = b_.CreateShl(v[0], 16 - 16 * i);
            Value* c = b_.CreateShl(v[1], 16 - 16 * i);
            a = sg ? b_.CreateAShr(a, 16) : b_.CreateLShr(a, 16);
            c = sg ? b_.CreateAShr(c, 16) : b_.CreateLShr(c, 16);
            Value* lt = sg ? b_.CreateICmpSLT(a, c) : b_.CreateICmpULT(a, c);
            Value* m = inst.op == Op::min ? b_.CreateSelect(lt, a, c) : b_.CreateSelect(lt, c, a);
            if (inst.has(Tok::relu)) m = b_.CreateSelect(b_.CreateICmpSLT(m, zero(m)), zero(m), m);
            out = b_.CreateOr(out, b_.CreateShl(b_.CreateAnd(m, con(m, 0xffff)), 16 * i));
          }
          return out;
        });
      }
      return emit(read_all({t, t}), t, [&](auto& v) -> Value* {
        unsigned id = inst.op == Op::min ? (sg ? Intrinsic::smin : Intrinsic::umin)
                                         : (sg ? Intrinsic::smax : Intrinsic::umax);
        Value* r = b_.CreateBinaryIntrinsic(static_cast<Intrinsic::ID>(id), v[0], v[1]);
        if (inst.has(Tok::relu)) r = b_.CreateBinaryIntrinsic(Intrinsic::smax, r, zero(r));
        return r;
      });
    case Op::and_:
    case Op::or_:
    case Op::xor_:
      return emit(read_all({t, t}), t, [&](auto& v) -> Value* {
        return inst.op == Op::and_  ? b_.CreateAnd(v[0], v[1])
               : inst.op == Op::or_ ? b_.CreateOr(v[0], v[1])
                                    : b_.CreateXor(v[0], v[1]);
      });
    case Op::not_:
      return emit(read_all({t}), t, [&](auto& v) { return b_.CreateNot(v[0]); });
    case Op::cnot:
      return emit(read_all({t}), t, [&](auto& v) -> Value* {
        return b_.CreateZExt(b_.CreateICmpEQ(v[0], zero(v[0])), v[0]->getType());
      });
    case Op::lop3: {
      auto* lut = dyn_cast<ConstantInt>(read(inst.ops[4], PType::u32).base);
      if (!lut) return fail(inst, "lop3 needs a constant table"), true;
      const uint64_t table = lut->getZExtValue();
      auto combine = [&](const std::vector<Value*>& v) {
        Value* out = zero(v[0]);
        for (unsigned i = 0; i < 8; ++i) {
          if (!(table >> i & 1)) continue;
          Value* term = i & 4 ? v[0] : b_.CreateNot(v[0]);
          term = b_.CreateAnd(term, i & 2 ? v[1] : b_.CreateNot(v[1]));
          term = b_.CreateAnd(term, i & 1 ? v[2] : b_.CreateNot(v[2]));
          out = b_.CreateOr(out, term);
        }
        return out;
      };
      if (inst.has(Tok::and_) || inst.has(Tok::or_)) {
        // d|p: p is (d != 0) combined with a predicate.
        std::vector<Val> args = read_all({t, t, t});
        args.push_back(read(inst.ops[5], PType::pred));
        Val p = map(args, [&](const std::vector<Value*>& v) -> Value* {
          Value* some = b_.CreateICmpNE(combine(v), zero(v[0]));
          return inst.has(Tok::and_) ? b_.CreateAnd(some, v[3]) : b_.CreateOr(some, v[3]);
        });
        args.pop_back();
        Val d = map(args, combine);
        if (p.uniform() != d.uniform()) d = Val::vector(vec(d)), p = Val::vector(vec(p));
        write(inst.ops[0].elems[0], d, t);
        write(inst.ops[0].elems[1], p, PType::pred);
        return true;
      }
      return emit(read_all({t, t, t}), t, combine);
    }
    case Op::fns:
      return emit(read_all({PType::b32, PType::b32, PType::s32}), PType::b32,
                  [&](auto& v) { return find_nth_set(v[0], v[1], v[2]); });
    case Op::shl:
    case Op::shr:
      return emit(read_all({t, PType::u32}), t, [&](auto& v) -> Value* {
        const unsigned n = v[0]->getType()->getScalarSizeInBits();
        Value* limit = con(v[1], n - 1);
        Value* over = b_.CreateICmpUGT(v[1], limit);
        Value* k = fit_bits(b_.CreateBinaryIntrinsic(Intrinsic::umin, v[1], limit), n);
        if (inst.op == Op::shr && sg) return b_.CreateAShr(v[0], k);
        Value* r = inst.op == Op::shl ? b_.CreateShl(v[0], k) : b_.CreateLShr(v[0], k);
        return b_.CreateSelect(over, zero(v[0]), r);
      });
    case Op::shf:
      return emit(read_all({PType::b32, PType::b32, PType::u32}), t, [&](auto& v) -> Value* {
        // Funnel of b:a; clamp counts to 32, or wraps modulo 32.
        Value* c = inst.has(Tok::clamp)
                       ? b_.CreateBinaryIntrinsic(Intrinsic::umin, v[2], con(v[2], 32))
                       : b_.CreateAnd(v[2], con(v[2], 31));
        llvm::Type* w = int_type(64);
        llvm::Type* ty = v[0]->getType();
        if (ty->isVectorTy()) w = vec_type(w);
        Value* both = b_.CreateOr(b_.CreateZExt(v[0], w), b_.CreateShl(b_.CreateZExt(v[1], w), 32));
        Value* k = b_.CreateZExt(c, w);
        if (inst.has(Tok::l)) return b_.CreateTrunc(b_.CreateLShr(b_.CreateShl(both, k), 32), ty);
        return b_.CreateTrunc(b_.CreateLShr(both, k), ty);
      });
    case Op::selp:
      return emit(read_all({t, t, PType::pred}), t,
                  [&](auto& v) { return b_.CreateSelect(v[2], v[0], v[1]); });
    case Op::slct: {
      PType c = inst.type(1);
      return emit(read_all({t, t, c}), t, [&](auto& v) -> Value* {
        Value* ge = c == PType::f32 ? b_.CreateFCmpOGE(
                                          inst.has(Tok::ftz) ? flush(inst, v[2]) : v[2], zero(v[2]))
                                    : b_.CreateICmpSGE(v[2], zero(v[2]));
        return b_.CreateSelect(ge, v[0], v[1]);
      });
    }
    case Op::popc:
      return emit(read_all({t}), PType::u32, [&](auto& v) {
        return fit_bits(b_.CreateUnaryIntrinsic(Intrinsic::ctpop, v[0]), 32);
      });
    case Op::clz:
      return emit(read_all({t}), PType::u32, [&](auto& v) {
        return fit_bits(b_.CreateBinaryIntrinsic(Intrinsic::ctlz, v[0], b_.getFalse()), 32);
      });
    case Op::brev:
      return emit(read_all({t}), t,
                  [&](auto& v) { return b_.CreateUnaryIntrinsic(Intrinsic::bitreverse, v[0]); });
    case Op::bfind:
      return emit(read_all({t}), PType::u32, [&](auto& v) -> Value* {
        const unsigned n = v[0]->getType()->getScalarSizeInBits();
        Value* x = v[0];
        if (sg) x = b_.CreateXor(x, b_.CreateAShr(x, n - 1));
        Value* lz = fit_bits(b_.CreateBinaryIntrinsic(Intrinsic::ctlz, x, b_.getFalse()), 32);
        Value* none = b_.CreateICmpEQ(x, zero(x));
        Value* r = inst.has(Tok::shiftamt) ? lz : b_.CreateSub(con(lz, n - 1), lz);
        return b_.CreateSelect(none, Constant::getAllOnesValue(r->getType()), r);
      });
    case Op::bfe:
      return emit(read_all({t, PType::u32, PType::u32}), t, [&](auto& v) -> Value* {
        if (folded_to_ones(inst)) return Constant::getAllOnesValue(v[0]->getType());
        const unsigned n = v[0]->getType()->getScalarSizeInBits();
        // Eight bits of each count for 32-bit values, all of them for 64-bit ones.
        Value* pos = n == 32 ? b_.CreateAnd(v[1], con(v[1], 255)) : v[1];
        Value* len = n == 32 ? b_.CreateAnd(v[2], con(v[2], 255)) : v[2];
        llvm::Type* w = int_type(128 > n * 2 ? n * 2 : 128);
        if (v[0]->getType()->isVectorTy()) w = vec_type(w);
        Value* cap = con(pos, n);
        Value* p = b_.CreateBinaryIntrinsic(Intrinsic::umin, pos, cap);
        Value* l = b_.CreateBinaryIntrinsic(Intrinsic::umin, len, cap);
        // Sign bit: of the field's top bit, or of the value's when the field leaves it.
        Value* top = b_.CreateBinaryIntrinsic(
            Intrinsic::umin, b_.CreateSub(b_.CreateAdd(p, l), con(p, 1)), con(p, n - 1));
        Value* sign =
            b_.CreateTrunc(b_.CreateLShr(v[0], fit_bits(b_.CreateAnd(top, con(top, n - 1)), n)),
                           v[0]->getType()->isVectorTy() ? vec_type(int_type(1))
                                                         : static_cast<llvm::Type*>(int_type(1)));
        Value* shifted = b_.CreateTrunc(
            b_.CreateLShr(b_.CreateZExt(v[0], w), b_.CreateZExtOrTrunc(p, w)), v[0]->getType());
        Value* keep = b_.CreateTrunc(
            b_.CreateSub(b_.CreateShl(ConstantInt::get(w, 1), b_.CreateZExtOrTrunc(l, w)),
                         ConstantInt::get(w, 1)),
            v[0]->getType());
        Value* r = b_.CreateAnd(shifted, keep);
        if (!sg) return r;
        // Bits of the field beyond the value are sign too.
        Value* left = b_.CreateBinaryIntrinsic(Intrinsic::umin, l, b_.CreateSub(con(p, n), p));
        Value* real_bits = b_.CreateTrunc(
            b_.CreateSub(b_.CreateShl(ConstantInt::get(w, 1), b_.CreateZExtOrTrunc(left, w)),
                         ConstantInt::get(w, 1)),
            v[0]->getType());
        Value* filled = b_.CreateOr(r, b_.CreateNot(real_bits));
        Value* some = b_.CreateICmpNE(l, zero(l));
        return b_.CreateSelect(b_.CreateAnd(sign, some), filled, r);
      });
    case Op::bfi: {
      std::vector<Val> args = read_all({t, t, PType::u32, PType::u32});
      return emit(args, t, [&](auto& v) -> Value* {
        const unsigned n = v[0]->getType()->getScalarSizeInBits();
        llvm::Type* w = int_type(n * 2);
        if (v[0]->getType()->isVectorTy()) w = vec_type(w);
        auto count = [&](Value* x) {
          if (n == 32) x = b_.CreateAnd(x, con(x, 255));
          return b_.CreateBinaryIntrinsic(Intrinsic::umin, x, con(x, n));
        };
        Value *p = count(v[2]), *l = count(v[3]);
        Value* pw = b_.CreateZExtOrTrunc(p, w);
        Value* ones = b_.CreateSub(b_.CreateShl(ConstantInt::get(w, 1), b_.CreateZExtOrTrunc(l, w)),
                                   ConstantInt::get(w, 1));
        Value* m = b_.CreateTrunc(b_.CreateShl(ones, pw), v[0]->getType());
        Value* field = b_.CreateTrunc(b_.CreateShl(b_.CreateZExt(v[0], w), pw), v[0]->getType());
        return b_.CreateOr(b_.CreateAnd(field, m), b_.CreateAnd(v[1], b_.CreateNot(m)));
      });
    }
    case Op::bmsk:
      return emit(read_all({PType::u32, PType::u32}), PType::b32, [&](auto& v) -> Value* {
        llvm::Type* w = int_type(128);
        if (v[0]->getType()->isVectorTy()) w = vec_type(w);
        const bool clamp = inst.has(Tok::clamp);
        Value* p = clamp ? b_.CreateBinaryIntrinsic(Intrinsic::umin, v[0], con(v[0], 32))
                         : b_.CreateAnd(v[0], con(v[0], 31));
        Value* l = clamp ? b_.CreateBinaryIntrinsic(Intrinsic::umin, v[1], con(v[1], 32))
                         : b_.CreateAnd(v[1], con(v[1], 31));
        Value* ones = b_.CreateSub(b_.CreateShl(ConstantInt::get(w, 1), b_.CreateZExt(l, w)),
                                   ConstantInt::get(w, 1));
        return b_.CreateTrunc(b_.CreateShl(ones, b_.CreateZExt(p, w)), v[0]->getType());
      });
    case Op::szext:
      return emit(read_all({t, PType::u32}), t, [&](auto& v) -> Value* {
        Value* n = inst.has(Tok::clamp)
                       ? b_.CreateBinaryIntrinsic(Intrinsic::umin, v[1], con(v[1], 32))
                       : b_.CreateAnd(v[1], con(v[1], 31));
        Value* k = b_.CreateSub(con(n, 32), n);
        llvm::Type* w = int_type(64);
        llvm::Type* ty = v[0]->getType();
        if (ty->isVectorTy()) w = vec_type(w);
        Value* up = b_.CreateTrunc(b_.CreateShl(b_.CreateZExt(v[0], w), b_.CreateZExt(k, w)), ty);
        Value* wide_up = sg ? b_.CreateSExt(up, w) : b_.CreateZExt(up, w);
        Value* r = sg ? b_.CreateAShr(wide_up, b_.CreateZExt(k, w))
                      : b_.CreateLShr(wide_up, b_.CreateZExt(k, w));
        return b_.CreateTrunc(r, ty);
      });
    case Op::prmt:
      return emit(read_all({PType::b32, PType::b32, PType::b32}), PType::b32,
                  [&](auto& v) { return permute_bytes(v[0], v[1], v[2], inst); });
    case Op::dp4a:
    case Op::dp2a: {
      const bool as = ptx::is_signed(inst.type(0)), bs = ptx::is_signed(inst.type(1));
      return emit(
          read_all({PType::b32, PType::b32, PType::b32}), PType::b32, [&](auto& v) -> Value* {
            Value* sum = v[2];
            const unsigned parts = inst.op == Op::dp4a ? 4 : 2;
            const unsigned aw = inst.op == Op::dp4a ? 8 : 16;
            for (unsigned i = 0; i < parts; ++i) {
              unsigned bi = inst.op == Op::dp2a && inst.has(Tok::hi) ? i + 2 : i;
              auto part = [&](Value* x, unsigned w, unsigned k, bool s) {
                Value* up = b_.CreateShl(x, 32 - w * (k + 1));
                return s ? b_.CreateAShr(up, 32 - w) : b_.CreateLShr(up, 32 - w);
              };
              sum = b_.CreateAdd(sum, b_.CreateMul(part(v[0], aw, i, as), part(v[1], 8, bi, bs)));
            }
            return sum;
          });
    }
    case Op::isspacep: {
      Val a = read(inst.ops[1], PType::u64);
      auto field = [&](size_t o) {
        return b_.CreatePtrToInt(ctx_field(o, b_.getPtrTy()), b_.getInt64Ty());
      };
      Value* window = field(offsetof(kernel::BlockContext, shared));
      Value* shared = b_.CreateAdd(window, own_shared(0));
      Value* size = b_.CreateZExt(
          launch_field(offsetof(kernel::LaunchContext, shared_bytes), b_.getInt32Ty()),
          b_.getInt64Ty());
      Value* local = field(offsetof(kernel::BlockContext, local));
      Value* threads = b_.getInt64(1);
      for (size_t i = 0; i < 3; ++i)
        threads = b_.CreateMul(
            threads, b_.CreateZExt(launch_field(offsetof(kernel::LaunchContext, block) + 4 * i,
                                                b_.getInt32Ty()),
                                   b_.getInt64Ty()));
      Value* local_size = b_.CreateMul(b_.CreateAdd(threads, b_.getInt64(width())),
                                       b_.getInt64(frame_.local_bytes));
      write(inst.ops[0],
            map({a},
                [&](auto& v) -> Value* {
                  auto inside = [&](Value* base, Value* bytes) {
                    bool vecs = v[0]->getType()->isVectorTy();
                    Value* off = b_.CreateSub(v[0], vecs ? splat(base) : base);
                    return b_.CreateICmpULT(off, vecs ? splat(bytes) : bytes);
                  };
                  Value* in_local = inside(local, local_size);
                  if (inst.has(Tok::shared) || inst.has(Tok::shared__cta))
                    return inside(shared, size);
                  if (inst.has(Tok::local)) return in_local;
                  Value* in_shared = inside(shared, size);
                  if (unit_.launch.cluster) {
                    // Any of its blocks' bytes: its part of the window, and not behind its end.
                    const bool vecs = v[0]->getType()->isVectorTy();
                    Value* off = b_.CreateSub(v[0], vecs ? splat(window) : window);
                    Value* bytes = vecs ? splat(size) : size;
                    Value* low =
                        b_.CreateAnd(off, (uint64_t{1} << kernel::cluster_window_shift) - 1);
                    Value* end = b_.CreateShl(
                        b_.CreateZExt(read_cluster_sreg(ptx::SReg::cluster_nctarank, 0),
                                      b_.getInt64Ty()),
                        kernel::cluster_window_shift);
                    in_shared = b_.CreateAnd(inside(window, end), b_.CreateICmpULT(low, bytes));
                  }
                  if (inst.has(Tok::shared__cluster)) return in_shared;
                  if (inst.has(Tok::global)) return b_.CreateNot(b_.CreateOr(in_shared, in_local));
                  fail(inst, "isspacep of this space is not supported");
                  return in_local;
                }),
            PType::pred);
      return true;
    }
    default:
      break;
  }
  return lower_video(inst);
}

}  // namespace limen::simt
