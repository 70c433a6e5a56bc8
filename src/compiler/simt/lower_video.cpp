// Video instructions: scalar (vadd, vmad, vset, ...) and SIMD within a word (vadd2, vset4, ...).
// Operands are widened, and the result is saturated, combined with c and merged into c. Neither
// masks nor shapes matter here: map() runs a piece of code on scalars or on vectors of lanes alike.
// Source: PTX ISA 9.0 #video-instructions. NVIDIA's compiler makes these of other instructions and
// departs from the manual at the edges: `.sat`, `.min` and `.max` beyond 32 bits and a result
// written to `.h1`. Where it does we follow the device (measured on H200, driver 580.159.04, every
// form: tests/golden/video.golden); the comments below say how.
#include <algorithm>
#include <iterator>

#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;
using ptx::Op;
using ptx::Selector;
using ptx::Tok;
using PType = ptx::Type;

namespace {

/// What is computed between the widening of the operands and the saturation of the result.
enum class Kind { add, sub, absdiff, min, max, avrg, set, shl, shr, mad };

struct Video {
  Op op;
  Kind kind;
  unsigned parts;  ///< 1: scalar; 2 or 4 parts of a word
};

constexpr Video videos[] = {{Op::vadd, Kind::add, 1},          {Op::vsub, Kind::sub, 1},
                            {Op::vabsdiff, Kind::absdiff, 1},  {Op::vmin, Kind::min, 1},
                            {Op::vmax, Kind::max, 1},          {Op::vset, Kind::set, 1},
                            {Op::vshl, Kind::shl, 1},          {Op::vshr, Kind::shr, 1},
                            {Op::vmad, Kind::mad, 1},          {Op::vadd2, Kind::add, 2},
                            {Op::vsub2, Kind::sub, 2},         {Op::vabsdiff2, Kind::absdiff, 2},
                            {Op::vmin2, Kind::min, 2},         {Op::vmax2, Kind::max, 2},
                            {Op::vset2, Kind::set, 2},         {Op::vavrg2, Kind::avrg, 2},
                            {Op::vadd4, Kind::add, 4},         {Op::vsub4, Kind::sub, 4},
                            {Op::vabsdiff4, Kind::absdiff, 4}, {Op::vmin4, Kind::min, 4},
                            {Op::vmax4, Kind::max, 4},         {Op::vset4, Kind::set, 4},
                            {Op::vavrg4, Kind::avrg, 4}};

/// Builders that work on scalars and vectors alike; types are those of the operand with other
/// elements.
class Builder {
 public:
  Builder(IRBuilder<>& b, const ptx::Instruction& inst) : b_(b), inst_(inst) {}

  Value* scalar(const Video& what, const std::vector<Value*>& in);
  Value* multiply_add(const std::vector<Value*>& in);
  Value* simd(const Video& what, const std::vector<Value*>& in);

 private:
  llvm::Type* with_bits(Value* like, unsigned bits) {
    return like->getType()->getWithNewBitWidth(bits);
  }
  Value* k(Value* like, uint64_t c) { return ConstantInt::get(like->getType(), c); }
  Value* extend(Value* v, unsigned bits, bool is_signed) {
    llvm::Type* t = with_bits(v, bits);
    return is_signed ? b_.CreateSExt(v, t) : b_.CreateZExt(v, t);
  }
  Value* min(Value* a, Value* b) { return b_.CreateBinaryIntrinsic(Intrinsic::smin, a, b); }
  Value* max(Value* a, Value* b) { return b_.CreateBinaryIntrinsic(Intrinsic::smax, a, b); }
  Value* clamp(Value* v, unsigned bits, bool is_signed) {
    const uint64_t ones = (uint64_t{1} << bits) - 1;
    Value* low = k(v, is_signed ? ~(ones >> 1) : 0);
    return min(max(v, low), k(v, is_signed ? ones >> 1 : ones));
  }
  /// The selected part of a word, widened to 64 bits.
  Value* part(Value* v, const Selector& s, bool is_signed) {
    if (s) {
      const unsigned bits = s.halves ? 16 : 8;
      v = b_.CreateTrunc(b_.CreateLShr(v, s.part(0) * bits), with_bits(v, bits));
    }
    return extend(v, 64, is_signed);
  }
  Value* compare(Value* a, Value* b);
  Value* plain(Kind kind, Value* a, Value* b);
  Value* shift(Kind kind, Value* a, Value* count);
  Value* saturate_scalar(Kind kind, Value* wide, bool is_signed);
  Value* merge_scalar(Value* r, Value* c);

  IRBuilder<>& b_;
  const ptx::Instruction& inst_;
};

Value* Builder::compare(Value* a, Value* b) {
  CmpInst::Predicate p = inst_.has(Tok::eq)   ? CmpInst::ICMP_EQ
                         : inst_.has(Tok::ne) ? CmpInst::ICMP_NE
                         : inst_.has(Tok::lt) ? CmpInst::ICMP_SLT
                         : inst_.has(Tok::le) ? CmpInst::ICMP_SLE
                         : inst_.has(Tok::gt) ? CmpInst::ICMP_SGT
                                              : CmpInst::ICMP_SGE;
  return b_.CreateZExt(b_.CreateICmp(p, a, b), a->getType());
}

/// On operands with at least two bits to spare.
Value* Builder::plain(Kind kind, Value* a, Value* b) {
  switch (kind) {
    case Kind::add:
      return b_.CreateAdd(a, b);
    case Kind::sub:
      return b_.CreateSub(a, b);
    case Kind::absdiff:
      return b_.CreateSub(max(a, b), min(a, b));
    case Kind::min:
      return min(a, b);
    case Kind::max:
      return max(a, b);
    case Kind::set:
      return compare(a, b);
    case Kind::avrg: {
      // Odd sums are rounded away from zero (measured).
      Value* sum = b_.CreateAdd(a, b);
      Value* up = b_.CreateZExt(b_.CreateICmpSGE(sum, k(sum, 0)), sum->getType());
      return b_.CreateAShr(b_.CreateAdd(sum, up), 1);
    }
    default:
      return shift(kind, a, b);
  }
}

Value* Builder::shift(Kind kind, Value* a, Value* count) {
  count = inst_.has(Tok::clamp) ? min(count, k(count, 32)) : b_.CreateAnd(count, k(count, 31));
  return kind == Kind::shl ? b_.CreateShl(a, count) : b_.CreateAShr(a, count);
}

/// `.sat`. The device saturates
/// - shifts to 32 bits, also where d has a selector, and looks at 34 bits of what was shifted left;
/// - to a byte or half as if the value were unsigned: a negative one becomes the largest;
/// - to u32 only from below: a sum beyond 32 bits keeps its low word.
Value* Builder::saturate_scalar(Kind kind, Value* wide, bool is_signed) {
  const Selector& s = inst_.ops[0].selector;
  const bool is_shift = kind == Kind::shl || kind == Kind::shr;
  if (s && !is_shift) {
    const uint64_t ones = s.halves ? 0xffff : 0xff;
    return b_.CreateBinaryIntrinsic(Intrinsic::umin, wide, k(wide, is_signed ? ones >> 1 : ones));
  }
  if (kind == Kind::shl) wide = b_.CreateAShr(b_.CreateShl(wide, 30), 30);
  return is_signed || is_shift ? clamp(wide, 32, is_signed) : max(wide, k(wide, 0));
}

/// Puts a result into the selected part of c. For `.h1` the device takes the upper half of the
/// result, not the lower one.
Value* Builder::merge_scalar(Value* r, Value* c) {
  const Selector& s = inst_.ops[0].selector;
  if (!s) return r;
  const unsigned bits = s.halves ? 16 : 8, at = s.part(0) * bits;
  const uint64_t mask = ((uint64_t{1} << bits) - 1) << at;
  if (!s.halves || at == 0) r = b_.CreateShl(r, at);
  return b_.CreateOr(b_.CreateAnd(r, k(r, mask)), b_.CreateAnd(c, k(c, ~mask & 0xffffffff)));
}

/// shape: `in` are i32 or vectors of them: a, b and, if there is one, c.
Value* Builder::scalar(const Video& what, const std::vector<Value*>& in) {
  const bool set = what.kind == Kind::set;  // vset has no dtype
  const bool d_signed = !set && ptx::is_signed(inst_.type(0));
  const size_t first = set ? 0 : 1;
  Value* a = part(in[0], inst_.ops[1].selector, ptx::is_signed(inst_.type(first)));
  Value* b = part(in[1], inst_.ops[2].selector, ptx::is_signed(inst_.type(first + 1)));
  Value* wide = plain(what.kind, a, b);
  const bool sat = inst_.has(Tok::sat);
  if (sat) wide = saturate_scalar(what.kind, wide, d_signed);
  Value* r = b_.CreateTrunc(wide, in[0]->getType());
  if (inst_.has(Tok::add)) return b_.CreateAdd(r, in[2]);
  if (!inst_.has(Tok::min) && !inst_.has(Tok::max))
    return in.size() > 2 ? merge_scalar(r, in[2]) : r;
  // The device compares 64 bits, as the first type says. It knows only the low word of sums and of
  // saturated unsigned shifts, and extends that by its sign.
  const bool is_shift = what.kind == Kind::shl || what.kind == Kind::shr;
  if (what.kind == Kind::add || what.kind == Kind::sub || (is_shift && sat && !d_signed))
    wide = extend(r, 64, true);
  const bool by_sign = ptx::is_signed(inst_.type(0));
  Value* less = b_.CreateICmp(by_sign ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT, wide,
                              extend(in[2], 64, by_sign));
  return inst_.has(Tok::min) ? b_.CreateSelect(less, r, in[2]) : b_.CreateSelect(less, in[2], r);
}

/// vmad: a * b + c, or with its sign changed, scaled and saturated. The device computes in 64 bits
/// and takes whole words, c among them, as signed whatever their type.
Value* Builder::multiply_add(const std::vector<Value*>& in) {
  const bool a_signed = ptx::is_signed(inst_.type(1)), b_signed = ptx::is_signed(inst_.type(2));
  const Selector &a_part = inst_.ops[1].selector, &b_part = inst_.ops[2].selector;
  const bool minus_product = inst_.ops[1].negated != inst_.ops[2].negated;
  const bool minus_c = inst_.ops[3].negated;
  const bool d_signed = a_signed || b_signed || minus_product || minus_c;
  Value* r = b_.CreateMul(part(in[0], a_part, a_signed || !a_part),
                          part(in[1], b_part, b_signed || !b_part));
  Value* c = extend(in[2], 64, true);
  if (minus_product) r = b_.CreateNeg(r);
  r = minus_c ? b_.CreateSub(r, c) : b_.CreateAdd(r, c);
  if (inst_.has(Tok::po)) r = b_.CreateAdd(r, k(r, 1));
  if (const unsigned s = inst_.has(Tok::shr7) ? 7 : inst_.has(Tok::shr15) ? 15 : 0)
    r = d_signed ? b_.CreateAShr(r, s) : b_.CreateLShr(r, s);
  if (inst_.has(Tok::sat)) r = clamp(r, 32, d_signed);
  return b_.CreateTrunc(r, in[0]->getType());
}

/// shape: `in` are i32 or vectors of them: a, b, c. The parts of all lanes lie in one vector.
Value* Builder::simd(const Video& what, const std::vector<Value*>& in) {
  const unsigned parts = what.parts, bits = 32 / parts;
  llvm::Type* words = in[0]->getType();
  auto* as_vector = dyn_cast<FixedVectorType>(words);
  const unsigned lanes = as_vector ? as_vector->getNumElements() : 1;
  llvm::Type* narrow = FixedVectorType::get(b_.getIntNTy(bits), lanes * parts);
  const bool set = what.kind == Kind::set;  // vset2 and vset4 have no dtype
  const bool d_signed = !set && ptx::is_signed(inst_.type(0));
  const size_t first = set ? 0 : 1;
  Value* a = b_.CreateBitCast(in[0], narrow);
  Value* b = b_.CreateBitCast(in[1], narrow);
  // Parts 0 to parts - 1 are those of a, the next are those of b.
  auto pick = [&](const Selector& s, unsigned otherwise, bool is_signed) {
    SmallVector<int> from;
    for (unsigned l = 0; l < lanes; ++l)
      for (unsigned i = 0; i < parts; ++i) {
        const unsigned p = s ? s.part(i) : otherwise + i;
        from.push_back(static_cast<int>(l * parts + p % parts + (p / parts) * lanes * parts));
      }
    return extend(b_.CreateShuffleVector(a, b, from), 2 * bits, is_signed);
  };
  Value* x = pick(inst_.ops[1].selector, 0, ptx::is_signed(inst_.type(first)));
  Value* y = pick(inst_.ops[2].selector, parts, ptx::is_signed(inst_.type(first + 1)));
  Value* wide = plain(what.kind, x, y);
  if (inst_.has(Tok::sat)) wide = clamp(wide, bits, d_signed);
  const Selector& mask = inst_.ops[0].selector;
  auto written = [&](unsigned part) {
    bool hit = !mask;
    for (size_t i = 0; i < mask.count; ++i) hit |= mask.part(i) == part;
    return hit;
  };
  if (inst_.has(Tok::add)) {
    Value* sum = in[2];
    for (unsigned i = 0; i < parts; ++i) {
      if (!written(i)) continue;
      SmallVector<int> from;
      for (unsigned l = 0; l < lanes; ++l) from.push_back(static_cast<int>(l * parts + i));
      Value* term = as_vector ? b_.CreateShuffleVector(wide, from)
                              : b_.CreateExtractElement(wide, uint64_t{i});
      sum = b_.CreateAdd(sum, b_.CreateSExtOrTrunc(term, words));
    }
    return sum;
  }
  SmallVector<int> from;
  for (unsigned n = 0; n < lanes * parts; ++n)
    from.push_back(static_cast<int>(written(n % parts) ? n : lanes * parts + n));
  Value* merged =
      b_.CreateShuffleVector(b_.CreateTrunc(wide, narrow), b_.CreateBitCast(in[2], narrow), from);
  return b_.CreateBitCast(merged, words);
}

}  // namespace

bool Lowering::lower_video(const Inst& inst) {
  const auto what = std::find_if(std::begin(videos), std::end(videos),
                                 [&](const Video& v) { return v.op == inst.op; });
  if (what == std::end(videos)) return false;
  std::vector<Val> args;
  for (size_t i = 1; i < inst.ops.size(); ++i) {
    ptx::Operand o = inst.ops[i];
    o.negated = false;  // the sign changes after the widening
    args.push_back(read(o, PType::u32));
  }
  Builder builder(b_, inst);
  Val r = map(args, [&](const std::vector<Value*>& v) {
    if (what->kind == Kind::mad) return builder.multiply_add(v);
    return what->parts == 1 ? builder.scalar(*what, v) : builder.simd(*what, v);
  });
  write(inst.ops[0], r, PType::u32);
  return true;
}

}  // namespace limen::simt
