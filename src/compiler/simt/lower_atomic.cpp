// atom and red. A block runs on one worker, so atomics on shared memory need no lock; lanes that
// add to one global address combine first where nobody asks for the old value.
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;
using PType = ptx::Type;

namespace {

bool is_half_pair(PType t) {
  return t == PType::f16x2 || t == PType::bf16x2 || t == PType::f16 || t == PType::bf16;
}

AtomicOrdering order_of(const ptx::Instruction& inst) {
  if (inst.has(Tok::acq_rel)) return AtomicOrdering::AcquireRelease;
  if (inst.has(Tok::acquire)) return AtomicOrdering::Acquire;
  if (inst.has(Tok::release)) return AtomicOrdering::Release;
  return AtomicOrdering::Monotonic;
}

}  // namespace

/// old + value of f64 as memory adds them: of NaNs the value's first, quieted in shared memory
/// only. Measured: H200, driver 580.159.04, tests/programs/nan_sums.
Value* Lowering::sum_in_memory(Value* old, Value* value, bool shared) {
  auto kept = [&](Value* nan) {
    if (!shared) return nan;
    Value* bits = b_.CreateBitCast(nan, b_.getInt64Ty());
    return b_.CreateBitCast(b_.CreateOr(bits, uint64_t{1} << 51), nan->getType());
  };
  Value* sum = b_.CreateFAdd(old, value);
  sum = b_.CreateSelect(b_.CreateFCmpUNO(old, old), kept(old), sum);
  return b_.CreateSelect(b_.CreateFCmpUNO(value, value), kept(value), sum);
}

/// The new value for `old`: what the operation would store.
Value* Lowering::combine(const Inst& inst, Value* old, Value* b, Value* c, bool shared) {
  const PType t = inst.type();
  const bool sg = ptx::is_signed(t);
  if (is_half_pair(t)) {
    const bool packed = t == PType::f16x2 || t == PType::bf16x2,
               bf16 = t == PType::bf16x2 || t == PType::bf16;
    auto one = [&](Value* x, Value* y) {
      auto number = [&](Value* h) {
        Value* f = half_to_float(h, bf16);  // fenced as in lower_half: no call of fmaxf
        return b_.CreateIntrinsic(Intrinsic::arithmetic_fence, {f->getType()}, {f});
      };
      Value *l = number(x), *r = number(y);
      return float_to_half(
          inst.has(Tok::add) ? b_.CreateFAdd(l, r) : min_max(inst, l, r, inst.has(Tok::max)), bf16);
    };
    if (!packed) return one(old, b);
    Value* out = b_.getInt32(0);
    for (unsigned i = 0; i < 2; ++i) {
      Value* x = b_.CreateTrunc(b_.CreateLShr(old, 16 * i), b_.getInt16Ty());
      Value* y = b_.CreateTrunc(b_.CreateLShr(b, 16 * i), b_.getInt16Ty());
      out = b_.CreateOr(out, b_.CreateShl(b_.CreateZExt(one(x, y), b_.getInt32Ty()), 16 * i));
    }
    return out;
  }
  if (inst.has(Tok::add) && !ptx::is_float(t)) return b_.CreateAdd(old, b);
  if (inst.has(Tok::add))
    return t == PType::f32 ? canonical_nan(b_.CreateFAdd(old, b)) : sum_in_memory(old, b, shared);
  if (inst.has(Tok::exch)) return b;
  if (inst.has(Tok::cas)) return b_.CreateSelect(b_.CreateICmpEQ(old, b), c, old);
  if (inst.has(Tok::and_)) return b_.CreateAnd(old, b);
  if (inst.has(Tok::or_)) return b_.CreateOr(old, b);
  if (inst.has(Tok::xor_)) return b_.CreateXor(old, b);
  if (inst.has(Tok::min))
    return b_.CreateBinaryIntrinsic(sg ? Intrinsic::smin : Intrinsic::umin, old, b);
  if (inst.has(Tok::max))
    return b_.CreateBinaryIntrinsic(sg ? Intrinsic::smax : Intrinsic::umax, old, b);
  if (inst.has(Tok::inc)) {
    Value* wrap = b_.CreateICmpUGE(old, b);
    return b_.CreateSelect(wrap, Constant::getNullValue(old->getType()),
                           b_.CreateAdd(old, ConstantInt::get(old->getType(), 1)));
  }
  if (inst.has(Tok::dec)) {
    Value* reset = b_.CreateOr(b_.CreateICmpEQ(old, Constant::getNullValue(old->getType())),
                               b_.CreateICmpUGT(old, b));
    return b_.CreateSelect(reset, b, b_.CreateSub(old, ConstantInt::get(old->getType(), 1)));
  }
  fail(inst, "this atomic operation is not supported");
  return old;
}

/// One lane's operation; returns the old value.
Value* Lowering::atomic_one(const Inst& inst, Value* p, Value* b, Value* c, bool shared) {
  const PType t = inst.type();
  llvm::Type* st = scalar_type(t);
  if (shared) {
    Value* old = b_.CreateLoad(st, p);
    b_.CreateStore(combine(inst, old, b, c, true), p);
    return old;
  }
  const AtomicOrdering order = order_of(inst);
  const bool sg = ptx::is_signed(t);
  auto rmw = [&](AtomicRMWInst::BinOp op) {
    return b_.CreateAtomicRMW(op, p, b, MaybeAlign(ptx::size_of(t)), order);
  };
  if (is_half_pair(t) || (ptx::is_float(t) && inst.has(Tok::add))) {
    // Compare-and-swap loop.
    BasicBlock* before = b_.GetInsertBlock();
    llvm::Type* raw = int_type(st->getPrimitiveSizeInBits());
    Value* first = b_.CreateLoad(raw, p, true);
    BasicBlock* loop = BasicBlock::Create(llvm_, "cas", out_);
    BasicBlock* after = BasicBlock::Create(llvm_, "cas.done", out_);
    b_.CreateBr(loop);
    before = b_.GetInsertBlock();
    b_.SetInsertPoint(loop);
    PHINode* old = b_.CreatePHI(raw, 2);
    old->addIncoming(first, before);
    Value* next = cast(combine(inst, cast(old, st), b, c, false), raw);
    Value* pair = b_.CreateAtomicCmpXchg(p, old, next, MaybeAlign(ptx::size_of(t)),
                                         AtomicOrdering::Monotonic, AtomicOrdering::Monotonic);
    old->addIncoming(b_.CreateExtractValue(pair, 0), b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateExtractValue(pair, 1), after, loop);
    b_.SetInsertPoint(after);
    return cast(old, st);
  }
  if (inst.has(Tok::add)) return rmw(AtomicRMWInst::Add);
  if (inst.has(Tok::exch)) return rmw(AtomicRMWInst::Xchg);
  if (inst.has(Tok::and_)) return rmw(AtomicRMWInst::And);
  if (inst.has(Tok::or_)) return rmw(AtomicRMWInst::Or);
  if (inst.has(Tok::xor_)) return rmw(AtomicRMWInst::Xor);
  if (inst.has(Tok::min)) return rmw(sg ? AtomicRMWInst::Min : AtomicRMWInst::UMin);
  if (inst.has(Tok::max)) return rmw(sg ? AtomicRMWInst::Max : AtomicRMWInst::UMax);
  if (inst.has(Tok::inc)) return rmw(AtomicRMWInst::UIncWrap);
  if (inst.has(Tok::dec)) return rmw(AtomicRMWInst::UDecWrap);
  if (inst.has(Tok::cas)) {
    AtomicOrdering fail_order =
        order == AtomicOrdering::AcquireRelease || order == AtomicOrdering::Acquire
            ? AtomicOrdering::Acquire
            : AtomicOrdering::Monotonic;
    Value* pair = b_.CreateAtomicCmpXchg(p, b, c, MaybeAlign(ptx::size_of(t)), order, fail_order);
    return b_.CreateExtractValue(pair, 0);
  }
  fail(inst, "this atomic operation is not supported");
  return b;
}

/// v2, v4 and v8: each element is an atomic operation of its own (PTX ISA 9.0, 9.7.13.12).
void Lowering::lower_atomic_vector(const Inst& inst) {
  const bool is_red = inst.op != Op::atom;  // multimem.red is one, too
  const size_t first = is_red ? 0 : 1;
  const PType t = inst.type();
  llvm::Type* st = scalar_type(t);
  const uint64_t each = ptx::size_of(t);
  Address a = address(inst, inst.ops[first]);
  const std::vector<Operand>& sources = inst.ops[first + 1].elems;
  check_alignment(inst, a.at, each * sources.size());
  auto element = [&](Value* p, size_t i) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), p, i * each);
  };
  auto wanted = [&](size_t i) {
    return !is_red && inst.ops[0].kind == Operand::Kind::vector &&
           inst.ops[0].elems[i].kind == Operand::Kind::reg;
  };
  std::vector<Val> b;
  for (const Operand& o : sources) b.push_back(read(o, t));
  if (scalar_mode()) {
    for (size_t i = 0; i < b.size(); ++i) {
      Value* old = atomic_one(inst, element(pointer(a.at.base), i), b[i].base, nullptr, a.shared);
      if (wanted(i)) write(inst.ops[0].elems[i], Val::scalar(old), t);
    }
    return;
  }
  Value* at_array = spill(a.at, b_.getInt64Ty());
  std::vector<Value*> in, out;
  for (size_t i = 0; i < b.size(); ++i) {
    in.push_back(spill(b[i], st));
    out.push_back(wanted(i) ? spill(Val::scalar(Constant::getNullValue(st)), st) : nullptr);
  }
  for_each_lane(active(), [&](Value* lane) {
    Value* p = pointer(load_lane(at_array, b_.getInt64Ty(), lane));
    for (size_t i = 0; i < in.size(); ++i) {
      Value* old = atomic_one(inst, element(p, i), load_lane(in[i], st, lane), nullptr, a.shared);
      if (out[i]) store_lane(out[i], st, lane, old);
    }
  });
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i]) write(inst.ops[0].elems[i], Val::vector(b_.CreateLoad(vec_type(st), out[i])), t);
}

/// A locked instruction waits for what it misses before the next one may begin, so the lines are
/// asked for all at once.
void Lowering::prefetch_lanes(const Val& at) {
  constexpr uint32_t to_write = 1, keep = 3, data = 1;
  for (Value* p : lane_pointers(at))
    b_.CreateIntrinsic(Intrinsic::prefetch, {p->getType()},
                       {p, b_.getInt32(to_write), b_.getInt32(keep), b_.getInt32(data)});
}

void Lowering::lower_atomic(const Inst& inst) {
  const bool is_red = inst.op != Op::atom;  // multimem.red is one, too
  const size_t first = is_red ? 0 : 1;
  const PType t = inst.type();
  if (inst.ops[first + 1].kind == Operand::Kind::vector) return lower_atomic_vector(inst);
  llvm::Type* st = scalar_type(t);
  Address a = address(inst, inst.ops[first]);
  Val b = read(inst.ops[first + 1], t), c;
  const bool is_cas = inst.has(Tok::cas);
  if (is_cas) {
    if (inst.ops.size() <= first + 2) return fail(inst, "cas needs two values");
    c = read(inst.ops[first + 2], t);
  }
  check_alignment(inst, a.at, ptx::size_of(t));
  if (scalar_mode()) {
    Value* old = atomic_one(inst, pointer(a.at.base), b.base, is_cas ? c.base : nullptr, a.shared);
    if (!is_red) write(inst.ops[0], Val::scalar(old), t);
    return;
  }
  bool wanted = false;
  if (!is_red && inst.ops[0].kind == Operand::Kind::reg) {
    std::vector<ptx::Index> uses, defs;
    for (const auto& block : fn_.blocks)
      for (const Inst& i : block.body) {
        uses_and_defs(plan_.graph, i, uses, defs);
        for (ptx::Index u : uses) wanted |= u == inst.ops[0].index;
      }
  }
  // One address, old value not wanted: combine the lanes and touch memory once.
  if (a.at.uniform() && !wanted && !is_half_pair(t)) {
    Value* lanes = active();
    auto reduce = [&](Intrinsic::ID id, Value* identity) -> Value* {
      Value* v = b_.CreateSelect(lanes, vec(b), splat(identity));
      return b_.CreateIntrinsic(id, {v->getType()}, {v});
    };
    Value* total = nullptr;
    const bool sg = ptx::is_signed(t);
    const unsigned n = st->getPrimitiveSizeInBits();
    if (inst.has(Tok::add) && !ptx::is_float(t))
      total = reduce(Intrinsic::vector_reduce_add, ConstantInt::get(st, 0));
    else if (inst.has(Tok::and_))
      total = reduce(Intrinsic::vector_reduce_and, Constant::getAllOnesValue(st));
    else if (inst.has(Tok::or_))
      total = reduce(Intrinsic::vector_reduce_or, ConstantInt::get(st, 0));
    else if (inst.has(Tok::xor_))
      total = reduce(Intrinsic::vector_reduce_xor, ConstantInt::get(st, 0));
    else if (inst.has(Tok::min))
      total =
          reduce(sg ? Intrinsic::vector_reduce_smin : Intrinsic::vector_reduce_umin,
                 ConstantInt::get(st, sg ? APInt::getSignedMaxValue(n) : APInt::getMaxValue(n)));
    else if (inst.has(Tok::max))
      total =
          reduce(sg ? Intrinsic::vector_reduce_smax : Intrinsic::vector_reduce_umax,
                 ConstantInt::get(st, sg ? APInt::getSignedMinValue(n) : APInt::getMinValue(n)));
    if (total) {
      atomic_one(inst, pointer(a.at.base), total, nullptr, a.shared);
      return;
    }
  }
  if (a.shared && active_full() && !wanted && !is_cas && !is_half_pair(t)) {
    // Plain code, lane after lane: no loop whose end is hard to foresee.
    Value* window = nullptr;
    Value* lanes = vec(a.at);
    Value* offsets = shared_offsets(lanes, window);
    Value* values = b.uniform() ? nullptr : vec(b);
    for (uint64_t i = 0; i < width(); ++i) {
      Value* at = b_.CreateExtractElement(offsets ? offsets : lanes, i);
      if (offsets) at = b_.CreateAdd(window, b_.CreateZExt(at, b_.getInt64Ty()));
      atomic_one(inst, pointer(at), values ? b_.CreateExtractElement(values, i) : b.base, nullptr,
                 true);
    }
    return;
  }
  if (!a.shared && !a.at.uniform() && active_full()) prefetch_lanes(a.at);
  Value* at_array = spill(a.at, b_.getInt64Ty());
  Value* b_array = b.uniform() ? nullptr : spill(b, st);
  Value* c_array = is_cas && !c.uniform() ? spill(c, st) : nullptr;
  Value* out = wanted ? spill(Val::scalar(Constant::getNullValue(st)), st) : nullptr;
  for_each_lane(active(), [&](Value* lane) {
    Value* p = pointer(load_lane(at_array, b_.getInt64Ty(), lane));
    Value* bv = b_array ? load_lane(b_array, st, lane) : b.base;
    Value* cv = c_array ? load_lane(c_array, st, lane) : is_cas ? c.base : nullptr;
    Value* old = atomic_one(inst, p, bv, cv, a.shared);
    if (out) store_lane(out, st, lane, old);
  });
  if (out) write(inst.ops[0], Val::vector(b_.CreateLoad(vec_type(st), out)), t);
}

}  // namespace limen::simt
