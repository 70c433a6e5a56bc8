// Warp-level instructions. With a warp as one vector they are shuffles and bit operations; under
// the lane strategy every lane hands its value to Runtime::exchange and computes from the snapshot.
// Rule: the member lanes that have not exited must be exactly the active ones; else the kernel's
// lanes meet from different places and needs the lane strategy: a fault, never a value.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;
using kernel::Exchange;
using kernel::Runtime;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;
using PType = ptx::Type;

/// The operand that names the lanes which `inst` waits for; null: all lanes.
const Operand* Lowering::member_mask(const Inst& inst) {
  switch (inst.op) {
    case Op::shfl:
      return inst.ops.size() > 4 ? &inst.ops[4] : nullptr;
    case Op::vote:
    case Op::match:
    case Op::redux:
      return &inst.ops[2];
    case Op::elect:
      return &inst.ops.back();
    case Op::bar:
    case Op::barrier:
      return &inst.ops[0];
    default:
      return nullptr;
  }
}

void Lowering::check_member(const Inst& inst, const Operand& member) {
  Val m = read(member, PType::u32);
  Value* lanes = active();
  Value* mask;
  if (m.uniform()) {
    mask = m.base;
  } else {
    // Every active lane must name the same members.
    Value* first =
        b_.CreateIntrinsic(Intrinsic::cttz, {b_.getInt32Ty()}, {bits(lanes), b_.getFalse()});
    mask = b_.CreateExtractElement(vec(m), first);
  }
  if (auto* c = dyn_cast<ConstantInt>(mask); c && c->isMinusOne() && !node_mask_ && !guard_mask_)
    return;
  Value* live = live_full_ ? ConstantInt::getTrue(vec_type(int_type(1)))
                           : static_cast<Value*>(b_.CreateLoad(live_->getAllocatedType(), live_));
  // Members that exited count as present; lanes outside the mask must not be here.
  Value* expected = b_.CreateAnd(mask, bits(live));
  Value* apart = b_.CreateXor(expected, bits(lanes));
  if (!m.uniform()) {
    // Lanes may form several groups (one mask a lane): then the union has to be what is active.
    Value* mine = b_.CreateSelect(lanes, vec(m), Constant::getNullValue(vec_type(b_.getInt32Ty())));
    Value* all_members = b_.CreateIntrinsic(Intrinsic::vector_reduce_or, {mine->getType()}, {mine});
    apart = b_.CreateXor(b_.CreateAnd(all_members, bits(live)), bits(lanes));
  }
  fault_if(mask_of_bits(apart), kernel::Fault::lanes_apart, inst.line, nullptr);
}

/// Lane i of the result is lane index[i] of v.
Value* Lowering::permute(Value* v, Value* index) {
  llvm::Type* t = v->getType();
  llvm::Type* i32v = vec_type(b_.getInt32Ty());
  if (auto* c = dyn_cast<Constant>(index)) {
    std::vector<int> m;
    bool known = true;
    for (uint32_t i = 0; i < width(); ++i) {
      auto* e = dyn_cast_or_null<ConstantInt>(c->getAggregateElement(i));
      known &= e != nullptr;
      m.push_back(e ? static_cast<int>(e->getZExtValue() & (width() - 1)) : 0);
    }
    if (known) return b_.CreateShuffleVector(v, m);
  }
  if (unit_.target.avx512 && width() == 32 && t->getScalarSizeInBits() == 32) {
    Value* x = b_.CreateBitCast(v, i32v);
    std::vector<int> lo, hi, both;
    for (int i = 0; i < 16; ++i) lo.push_back(i), hi.push_back(16 + i);
    for (int i = 0; i < 32; ++i) both.push_back(i);
    Value* a = b_.CreateShuffleVector(x, lo);
    Value* c = b_.CreateShuffleVector(x, hi);
    auto half = [&](const std::vector<int>& part) {
      return b_.CreateIntrinsic(Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                {a, b_.CreateShuffleVector(index, part), c});
    };
    return b_.CreateBitCast(b_.CreateShuffleVector(half(lo), half(hi), both), t);
  }
  if (unit_.target.avx2 && width() % 8 == 0 && t->getScalarSizeInBits() == 32) {
    // Eight lanes at a time from each eight, by the index's low three bits, then chosen by the
    // rest.
    Value* x = b_.CreateBitCast(v, i32v);
    auto eight = [&](Value* of, uint32_t part) {
      std::vector<int> lanes;
      for (uint32_t i = 0; i < 8; ++i) lanes.push_back(static_cast<int>(8 * part + i));
      return b_.CreateShuffleVector(of, lanes);
    };
    std::vector<Value*> from, to;
    for (uint32_t part = 0; part < width() / 8; ++part) from.push_back(eight(x, part));
    for (uint32_t part = 0; part < width() / 8; ++part) {
      Value* k = eight(index, part);
      std::vector<Value*> rows;
      for (Value* lanes : from)
        rows.push_back(b_.CreateIntrinsic(Intrinsic::x86_avx2_permd, {}, {lanes, k}));
      for (uint64_t bit = 3; rows.size() > 1; ++bit) {
        Value* upper =
            b_.CreateICmpSLT(b_.CreateShl(k, 31 - bit), Constant::getNullValue(k->getType()));
        std::vector<Value*> next;
        for (size_t i = 0; i < rows.size(); i += 2)
          next.push_back(b_.CreateSelect(upper, rows[i + 1], rows[i]));
        rows = next;
      }
      to.push_back(rows[0]);
    }
    return b_.CreateBitCast(concatenateVectors(b_, to), t);
  }
  AllocaInst* array = entry_alloca(t, "permute", false);
  array->setAlignment(Align(64));
  b_.CreateStore(v, array);
  Value* r = PoisonValue::get(t);
  llvm::Type* e = t->getScalarType();
  for (uint32_t i = 0; i < width(); ++i) {
    Value* k = b_.CreateAnd(b_.CreateExtractElement(index, uint64_t{i}), width() - 1);
    r = b_.CreateInsertElement(r, load_lane(array, e, k), uint64_t{i});
  }
  return r;
}

void Lowering::lower_shfl(const Inst& inst) {
  // shfl.sync.mode.b32 d[|p], a, b, c, membermask
  const Operand& dest = inst.ops[0];
  const bool pair = dest.kind == Operand::Kind::pair;
  const Operand& d = pair ? dest.elems[0] : dest;
  if (inst.ops.size() > 4) check_member(inst, inst.ops[4]);
  Val a = read(inst.ops[1], PType::b32), b = read(inst.ops[2], PType::u32),
      c = read(inst.ops[3], PType::u32);
  const Shape shape = transfer_of(inst);
  Value* value = vec(a);
  Value* lane = lane_ids();
  Value* bv = vec(b);
  Value* cv = vec(c);
  bv = b_.CreateAnd(bv, 31);
  Value* clamp = b_.CreateAnd(cv, 31);
  Value* segment = b_.CreateAnd(b_.CreateLShr(cv, 8), 31);
  Value* min_lane = b_.CreateAnd(lane, segment);
  Value* max_lane = b_.CreateOr(min_lane, b_.CreateAnd(clamp, b_.CreateNot(segment)));
  Value* j;
  Value* inside;
  if (inst.has(Tok::up)) {
    j = b_.CreateSub(lane, bv);
    inside = b_.CreateICmpSGE(j, max_lane);
  } else if (inst.has(Tok::down)) {
    j = b_.CreateAdd(lane, bv);
    inside = b_.CreateICmpSLE(j, max_lane);
  } else if (inst.has(Tok::bfly)) {
    j = b_.CreateXor(lane, bv);
    inside = b_.CreateICmpSLE(j, max_lane);
  } else {
    j = b_.CreateOr(min_lane, b_.CreateAnd(bv, b_.CreateNot(segment)));
    inside = b_.CreateICmpSLE(j, max_lane);
  }
  Value* source = b_.CreateSelect(inside, j, lane);
  if (shape.uniform()) {
    Value* one = b_.CreateAnd(b.base, 31);
    write(d, Val::scalar(b_.CreateExtractElement(value, one)), PType::b32);
    if (pair) write(dest.elems[1], Val::scalar(b_.getTrue()), PType::pred);
    return;
  }
  write(d, Val::vector(permute(value, source)), PType::b32);
  if (pair) write(dest.elems[1], Val::vector(inside), PType::pred);
}

void Lowering::lower_vote(const Inst& inst) {
  // vote.sync.mode d, {!}a, membermask
  check_member(inst, inst.ops[2]);
  Val a = read(inst.ops[1], PType::pred);
  Value* lanes = active();
  Value* yes = bits(b_.CreateAnd(lanes, vec(a)));
  Value* here = bits(lanes);
  if (!transfer_of(inst).uniform()) {
    // Several groups at once: each lane sees its own members only.
    Value* member = vec(read(inst.ops[2], PType::u32));
    Value* y = b_.CreateAnd(splat(yes), member);
    Value* none = b_.CreateICmpEQ(y, Constant::getNullValue(y->getType()));
    Value* every = b_.CreateICmpEQ(y, b_.CreateAnd(splat(here), member));
    if (inst.has(Tok::ballot)) return write(inst.ops[0], Val::vector(y), PType::b32);
    Value* r = inst.has(Tok::any)   ? b_.CreateNot(none)
               : inst.has(Tok::all) ? every
                                    : b_.CreateOr(none, every);
    return write(inst.ops[0], Val::vector(r), PType::pred);
  }
  if (inst.has(Tok::ballot)) return write(inst.ops[0], Val::scalar(yes), PType::b32);
  Value* r;
  if (inst.has(Tok::any))
    r = b_.CreateICmpNE(yes, b_.getInt32(0));
  else if (inst.has(Tok::all))
    r = b_.CreateICmpEQ(yes, here);
  else
    r = b_.CreateOr(b_.CreateICmpEQ(yes, here), b_.CreateICmpEQ(yes, b_.getInt32(0)));
  write(inst.ops[0], Val::scalar(r), PType::pred);
}

/// By lane, the lanes with the same value, active or not.
Value* Lowering::match_any(Value* v) {
  AllocaInst* result = entry_alloca(vec_type(b_.getInt32Ty()), "match", true);
  for (uint32_t i = 0; i < width(); ++i) {
    Value* same = b_.CreateICmpEQ(v, splat(b_.CreateExtractElement(v, uint64_t{i})));
    b_.CreateStore(bits(same), b_.CreateInBoundsGEP(b_.getInt32Ty(), result, b_.getInt32(i)));
  }
  return b_.CreateLoad(vec_type(b_.getInt32Ty()), result);
}

/// The same of the lowest bytes alone: all 32 lanes are one register.
Value* Lowering::match_bytes(Value* v) {
  llvm::Type* i8 = b_.getInt8Ty();
  AllocaInst* result = entry_alloca(vec_type(b_.getInt32Ty()), "match", true);
  AllocaInst* room = entry_alloca(vec_type(i8), "bytes", false);
  Value* bytes = b_.CreateTrunc(v, vec_type(i8));
  b_.CreateStore(bytes, room);
  // Written out, or LLVM would make each of them of the register, by three shuffles.
  auto* type = FunctionType::get(vec_type(i8), {b_.getPtrTy()}, false);
  InlineAsm* broadcast = InlineAsm::get(type, "vpbroadcastb $1, $0", "=x,*m", false);
  for (uint32_t i = 0; i < width(); ++i) {
    CallInst* one = b_.CreateCall(broadcast, {b_.CreateConstInBoundsGEP1_32(i8, room, i)});
    one->addParamAttr(0, Attribute::get(llvm_, Attribute::ElementType, i8));
    b_.CreateStore(bits(b_.CreateICmpEQ(bytes, one)),
                   b_.CreateInBoundsGEP(b_.getInt32Ty(), result, b_.getInt32(i)));
  }
  return b_.CreateLoad(vec_type(b_.getInt32Ty()), result);
}

void Lowering::lower_match(const Inst& inst) {
  // match.any.sync.type d, a, membermask; match.all.sync.type d[|p], a, membermask
  check_member(inst, inst.ops[2]);
  Value* v = vec(read(inst.ops[1], inst.type()));
  Value* lanes = active();
  Value* here = bits(lanes);
  llvm::Type* i32v = vec_type(b_.getInt32Ty());
  Val member = read(inst.ops[2], PType::u32);
  if (!member.uniform() && inst.has(Tok::all)) {
    // Several groups at once: each lane looks at the members it names.
    Value* mine = b_.CreateAnd(vec(member), splat(here));
    Value* differ = Constant::getNullValue(vec_type(b_.getInt1Ty()));
    for (uint32_t i = 0; i < width(); ++i) {
      Value* named =
          b_.CreateICmpNE(b_.CreateAnd(mine, uint64_t{1} << i), Constant::getNullValue(i32v));
      Value* other = b_.CreateICmpNE(v, splat(b_.CreateExtractElement(v, uint64_t{i})));
      differ = b_.CreateOr(differ, b_.CreateAnd(named, other));
    }
    const bool two = inst.ops[0].kind == Operand::Kind::pair;
    Value* r = b_.CreateSelect(differ, Constant::getNullValue(i32v), mine);
    write(two ? inst.ops[0].elems[0] : inst.ops[0], Val::vector(r), PType::b32);
    if (two) write(inst.ops[0].elems[1], Val::vector(b_.CreateNot(differ)), PType::pred);
    return;
  }
  if (inst.has(Tok::all)) {
    Value* first = b_.CreateIntrinsic(Intrinsic::cttz, {b_.getInt32Ty()}, {here, b_.getFalse()});
    Value* same = b_.CreateICmpEQ(v, splat(b_.CreateExtractElement(v, first)));
    Value* equal = b_.CreateICmpEQ(bits(b_.CreateAnd(same, lanes)), here);
    Value* mask = b_.CreateSelect(equal, here, b_.getInt32(0));
    const bool pair = inst.ops[0].kind == Operand::Kind::pair;
    write(pair ? inst.ops[0].elems[0] : inst.ops[0], Val::vector(splat(mask)), PType::b32);
    if (pair) write(inst.ops[0].elems[1], Val::vector(splat(equal)), PType::pred);
    return;
  }
  Value* r;
  if (width() == 32 && unit_.target.avx2) {
    // Digits of a sort: where all values agree above their lowest byte, bytes are compared.
    Value* differ = b_.CreateXor(v, splat(b_.CreateExtractElement(v, uint64_t{0})));
    differ = b_.CreateIntrinsic(Intrinsic::vector_reduce_or, {differ->getType()}, {differ});
    r = one_of(
        b_.CreateICmpULE(differ, ConstantInt::get(differ->getType(), 255)),
        [&] { return std::vector<Value*>{match_bytes(v)}; },
        [&] { return std::vector<Value*>{match_any(v)}; }, false)[0];
  } else {
    r = match_any(v);
  }
  r = b_.CreateAnd(r, splat(here));
  if (!member.uniform()) r = b_.CreateAnd(r, vec(member));
  write(inst.ops[0], Val::vector(r), PType::b32);
}

void Lowering::lower_redux(const Inst& inst) {
  check_member(inst, inst.ops[2]);
  const PType t = inst.type();
  if (ptx::is_float(t)) return fail(inst, "redux.sync of floating-point values is not supported");
  const bool sg = ptx::is_signed(t);
  Value* v = vec(read(inst.ops[1], t));
  const bool groups = !transfer_of(inst).uniform();
  auto reduce = [&](Intrinsic::ID id, uint64_t identity) {
    auto over = [&](Value* lanes) -> Value* {
      Value* x = b_.CreateSelect(
          lanes, v,
          splat_const(b_.getInt32Ty(), static_cast<int64_t>(static_cast<int32_t>(identity))));
      return b_.CreateIntrinsic(id, {x->getType()}, {x});
    };
    if (!groups) return write(inst.ops[0], Val::scalar(over(active())), t);
    // One group of lanes after the other, by the first lane not served yet.
    Value* lanes = active();
    Value* members = spill(read(inst.ops[2], PType::u32), b_.getInt32Ty());
    AllocaInst* result = entry_alloca(vec_type(b_.getInt32Ty()), "redux");
    AllocaInst* left = entry_alloca(b_.getInt32Ty(), "left");
    b_.CreateStore(bits(lanes), left);
    BasicBlock* loop = BasicBlock::Create(llvm_, "group", out_);
    BasicBlock* after = BasicBlock::Create(llvm_, "groups.done", out_);
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    Value* rest = b_.CreateLoad(b_.getInt32Ty(), left);
    Value* lane = b_.CreateIntrinsic(Intrinsic::cttz, {b_.getInt32Ty()}, {rest, b_.getFalse()});
    Value* group =
        b_.CreateAnd(load_lane(members, b_.getInt32Ty(), b_.CreateAnd(lane, 31)), bits(lanes));
    Value* mask = mask_of_bits(group);
    Value* old = b_.CreateLoad(result->getAllocatedType(), result);
    b_.CreateStore(b_.CreateSelect(mask, splat(over(mask)), old), result);
    // A lane always serves itself, whatever mask it names: the loop ends.
    Value* served = b_.CreateOr(group, b_.CreateShl(b_.getInt32(1), b_.CreateAnd(lane, 31)));
    Value* next = b_.CreateAnd(rest, b_.CreateNot(served));
    b_.CreateStore(next, left);
    b_.CreateCondBr(b_.CreateICmpNE(next, b_.getInt32(0)), loop, after);
    b_.SetInsertPoint(after);
    write(inst.ops[0], Val::vector(b_.CreateLoad(result->getAllocatedType(), result)), t);
  };
  if (inst.has(Tok::add)) return reduce(Intrinsic::vector_reduce_add, 0);
  if (inst.has(Tok::and_)) return reduce(Intrinsic::vector_reduce_and, 0xffffffff);
  if (inst.has(Tok::or_)) return reduce(Intrinsic::vector_reduce_or, 0);
  if (inst.has(Tok::xor_)) return reduce(Intrinsic::vector_reduce_xor, 0);
  if (inst.has(Tok::min))
    return sg ? reduce(Intrinsic::vector_reduce_smin, 0x7fffffff)
              : reduce(Intrinsic::vector_reduce_umin, 0xffffffff);
  return sg ? reduce(Intrinsic::vector_reduce_smax, 0x80000000)
            : reduce(Intrinsic::vector_reduce_umax, 0);
}

Value* Lowering::exchange(const Inst& inst, Value* member, Value* value) {
  auto* ft = FunctionType::get(
      b_.getPtrTy(),
      {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty(), b_.getInt64Ty()}, false);
  return b_.CreateCall(ft, runtime(offsetof(Runtime, exchange)),
                       {ctx_, warp_ctx_, member, b_.getInt32(static_cast<uint32_t>(inst.op)),
                        b_.CreateZExt(value, b_.getInt64Ty())});
}

/// The same operations for one lane, from what Runtime::exchange gathered.
void Lowering::lower_warp_scalar(const Inst& inst) {
  auto i32 = b_.getInt32Ty();
  auto i64 = b_.getInt64Ty();
  auto present = [&](Value* e) { return b_.CreateLoad(i32, e); };
  auto value_at = [&](Value* e, Value* lane) {
    Value* base = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), e, offsetof(Exchange, values));
    return b_.CreateLoad(i64, b_.CreateInBoundsGEP(i64, base, lane));
  };
  Value* lane = b_.CreateAnd(thread_linear_base(), 31);
  switch (inst.op) {
    case Op::activemask:
      return write(inst.ops[0], Val::scalar(b_.CreateShl(b_.getInt32(1), lane)), PType::b32);
    case Op::bar:
    case Op::barrier:
      exchange(inst, read(inst.ops[0], PType::u32).base, b_.getInt32(0));
      return;
    case Op::elect: {
      if (inst.ops[0].kind != Operand::Kind::pair)
        return fail(inst, "elect.sync needs a destination pair");
      Value* e = exchange(inst, read(inst.ops.back(), PType::u32).base, b_.getInt32(0));
      Value* leader = b_.CreateIntrinsic(Intrinsic::cttz, {i32}, {present(e), b_.getFalse()});
      write(inst.ops[0].elems[0], Val::scalar(leader), PType::b32);
      write(inst.ops[0].elems[1], Val::scalar(b_.CreateICmpEQ(lane, leader)), PType::pred);
      return;
    }
    case Op::shfl: {
      const Operand& dest = inst.ops[0];
      const bool pair = dest.kind == Operand::Kind::pair;
      Value* a = read(inst.ops[1], PType::b32).base;
      Value* bv = b_.CreateAnd(read(inst.ops[2], PType::u32).base, 31);
      Value* cv = read(inst.ops[3], PType::u32).base;
      Value* member = read(inst.ops[4], PType::u32).base;
      Value* e = exchange(inst, member, a);
      Value* segment = b_.CreateAnd(b_.CreateLShr(cv, 8), 31);
      Value* min_lane = b_.CreateAnd(lane, segment);
      Value* max_lane =
          b_.CreateOr(min_lane, b_.CreateAnd(b_.CreateAnd(cv, 31), b_.CreateNot(segment)));
      Value* j;
      if (inst.has(Tok::up))
        j = b_.CreateSub(lane, bv);
      else if (inst.has(Tok::down))
        j = b_.CreateAdd(lane, bv);
      else if (inst.has(Tok::bfly))
        j = b_.CreateXor(lane, bv);
      else
        j = b_.CreateOr(min_lane, b_.CreateAnd(bv, b_.CreateNot(segment)));
      Value* inside =
          inst.has(Tok::up) ? b_.CreateICmpSGE(j, max_lane) : b_.CreateICmpSLE(j, max_lane);
      Value* source = b_.CreateAnd(b_.CreateSelect(inside, j, lane), 31);
      Value* r = b_.CreateTrunc(value_at(e, source), i32);
      write(pair ? dest.elems[0] : dest, Val::scalar(r), PType::b32);
      if (pair) write(dest.elems[1], Val::scalar(inside), PType::pred);
      return;
    }
    case Op::vote: {
      Value* e =
          exchange(inst, read(inst.ops[2], PType::u32).base, read(inst.ops[1], PType::pred).base);
      Value* here = present(e);
      Value* yes = b_.getInt32(0);
      for (uint32_t i = 0; i < 32; ++i) {
        Value* bit = b_.CreateTrunc(b_.CreateAnd(value_at(e, b_.getInt32(i)), 1), i32);
        yes = b_.CreateOr(yes, b_.CreateShl(bit, i));
      }
      yes = b_.CreateAnd(yes, here);
      if (inst.has(Tok::ballot)) return write(inst.ops[0], Val::scalar(yes), PType::b32);
      Value* none = b_.CreateICmpEQ(yes, b_.getInt32(0));
      Value* every = b_.CreateICmpEQ(yes, here);
      Value* r = inst.has(Tok::any)   ? b_.CreateNot(none)
                 : inst.has(Tok::all) ? every
                                      : b_.CreateOr(none, every);
      return write(inst.ops[0], Val::scalar(r), PType::pred);
    }
    case Op::match: {
      Value* a = b_.CreateZExt(read(inst.ops[1], inst.type()).base, i64);
      Value* e = exchange(inst, read(inst.ops[2], PType::u32).base, a);
      Value* here = present(e);
      Value* same = b_.getInt32(0);
      for (uint32_t i = 0; i < 32; ++i) {
        Value* eq = b_.CreateZExt(b_.CreateICmpEQ(value_at(e, b_.getInt32(i)), a), i32);
        same = b_.CreateOr(same, b_.CreateShl(eq, i));
      }
      same = b_.CreateAnd(same, here);
      if (!inst.has(Tok::all)) return write(inst.ops[0], Val::scalar(same), PType::b32);
      const bool pair = inst.ops[0].kind == Operand::Kind::pair;
      Value* every = b_.CreateICmpEQ(same, here);
      write(pair ? inst.ops[0].elems[0] : inst.ops[0],
            Val::scalar(b_.CreateSelect(every, here, b_.getInt32(0))), PType::b32);
      if (pair) write(inst.ops[0].elems[1], Val::scalar(every), PType::pred);
      return;
    }
    case Op::redux: {
      const PType t = inst.type();
      if (ptx::is_float(t))
        return fail(inst, "redux.sync of floating-point values is not supported");
      const bool sg = ptx::is_signed(t);
      Value* a = read(inst.ops[1], t).base;
      Value* e = exchange(inst, read(inst.ops[2], PType::u32).base, a);
      Value* here = present(e);
      Value* r = a;
      Value* sum = b_.getInt32(0);
      for (uint32_t i = 0; i < 32; ++i) {
        Value* v = b_.CreateTrunc(value_at(e, b_.getInt32(i)), i32);
        Value* in = b_.CreateICmpNE(b_.CreateAnd(here, 1u << i), b_.getInt32(0));
        sum = b_.CreateSelect(in, inst.has(Tok::add) ? b_.CreateAdd(sum, v) : b_.CreateXor(sum, v),
                              sum);
        Value* next = inst.has(Tok::and_)  ? b_.CreateAnd(r, v)
                      : inst.has(Tok::or_) ? b_.CreateOr(r, v)
                      : inst.has(Tok::min)
                          ? b_.CreateBinaryIntrinsic(sg ? Intrinsic::smin : Intrinsic::umin, r, v)
                          : b_.CreateBinaryIntrinsic(sg ? Intrinsic::smax : Intrinsic::umax, r, v);
        r = b_.CreateSelect(in, next, r);
      }
      return write(inst.ops[0], Val::scalar(inst.has(Tok::add) || inst.has(Tok::xor_) ? sum : r),
                   t);
    }
    default:
      return fail(inst, "instruction is not supported under the lane strategy");
  }
}

/// A fiber arrives at a barrier with all of its warp's threads: the live lanes must be here.
void Lowering::check_together(const Inst& inst) {
  if (scalar_mode() || live_full_) return;
  if (!guard_mask_ && (!node_mask_ || !rp_->apart_at_barrier.has(node_))) return;
  Value* live = b_.CreateLoad(live_->getAllocatedType(), live_);
  fault_if(b_.CreateXor(live, active()), kernel::Fault::lanes_apart, inst.line, nullptr);
}

/// Barriers of the fiber and lane strategies, and bar.arrive.
void Lowering::lower_barrier(const Inst& inst) {
  const bool red = inst.has(Tok::red), arrive = inst.has(Tok::arrive);
  size_t i = red ? 1 : 0;
  auto lane_value = [&](const Operand& o) {
    Val v = read(o, PType::u32);
    if (v.uniform()) return v.base;
    Value* first =
        b_.CreateIntrinsic(Intrinsic::cttz, {b_.getInt32Ty()}, {bits(active()), b_.getFalse()});
    return static_cast<Value*>(b_.CreateExtractElement(vec(v), first));
  };
  Value* id = lane_value(inst.ops[i++]);
  Value* threads = b_.getInt32(0);
  const size_t tail = red ? 1 : 0;
  if (inst.ops.size() > i + tail) threads = lane_value(inst.ops[i]);
  check_together(inst);
  Value* lanes = active();
  Value* arriving = b_.CreateUnaryIntrinsic(Intrinsic::ctpop, bits(lanes));
  Value* yes = b_.getInt32(0);
  if (red) {
    Val p = read(inst.ops.back(), PType::pred);
    Value* m = scalar_mode() ? p.base : b_.CreateAnd(lanes, vec(p));
    yes = b_.CreateUnaryIntrinsic(Intrinsic::ctpop, bits(m));
  }
  auto* ft = FunctionType::get(b_.getInt32Ty(),
                               {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty(),
                                b_.getInt32Ty(), b_.getInt32Ty(), b_.getInt32Ty()},
                               false);
  auto call = [&](Value* count) {
    return b_.CreateCall(
        ft, runtime(offsetof(Runtime, barrier)),
        {ctx_, warp_ctx_, id, threads, arriving, b_.getInt32(arrive ? 1 : 0), count});
  };
  Value* sum = call(yes);
  if (!red) return;
  if (inst.has(Tok::popc)) return write(inst.ops[0], Val::scalar(sum), PType::u32);
  if (inst.has(Tok::or_))
    return write(inst.ops[0], Val::scalar(b_.CreateICmpNE(sum, b_.getInt32(0))), PType::pred);
  // and: nobody said no. The count of nays needs a second look at the same barrier.
  Value* no = b_.CreateSub(arriving, yes);
  Value* nays = call(no);
  write(inst.ops[0], Val::scalar(b_.CreateICmpEQ(nays, b_.getInt32(0))), PType::pred);
}

void Lowering::lower_yield() {
  if (!warp_ctx_) return;
  auto* ft = FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
  b_.CreateCall(ft, runtime(offsetof(Runtime, yield)), {ctx_, warp_ctx_});
}

bool Lowering::lower_warp(const Inst& inst) {
  const bool warp_barrier = (inst.op == Op::bar || inst.op == Op::barrier) && inst.has(Tok::warp);
  switch (inst.op) {
    case Op::shfl:
    case Op::vote:
      if (!inst.has(Tok::sync))
        return fail(inst, "warp operations without .sync are not supported"), true;
      break;
    case Op::match:
    case Op::redux:
    case Op::activemask:
      break;
    case Op::bar:
    case Op::barrier:
      if (inst.has(Tok::cluster)) {
        lower_cluster_barrier(inst);
        return true;
      }
      if (!warp_barrier) {
        lower_barrier(inst);
        return true;
      }
      break;
    case Op::elect: {
      if (scalar_mode()) {
        lower_warp_scalar(inst);
        return true;
      }
      check_member(inst, inst.ops.back());
      Value* here = b_.CreateAnd(splat(bits(active())), vec(read(inst.ops.back(), PType::u32)));
      Value* leader = b_.CreateIntrinsic(Intrinsic::cttz, {here->getType()}, {here, b_.getFalse()});
      Value* mine = b_.CreateICmpEQ(lane_ids(), leader);
      if (inst.ops[0].kind == Operand::Kind::pair) {
        write(inst.ops[0].elems[0], Val::vector(leader), PType::b32);
        write(inst.ops[0].elems[1], Val::vector(mine), PType::pred);
      } else {
        fail(inst, "elect.sync needs a destination pair");
      }
      return true;
    }
    case Op::nanosleep: {
      Val n = read(inst.ops[0], PType::u32);
      Value* v = n.uniform() ? n.base : b_.CreateExtractElement(vec(n), uint64_t{0});
      auto* ft =
          FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty()}, false);
      Value* self = warp_ctx_ ? warp_ctx_ : ConstantPointerNull::get(b_.getPtrTy());
      b_.CreateCall(ft, runtime(offsetof(Runtime, nanosleep)), {ctx_, self, v});
      return true;
    }
    case Op::trap:
      if (scalar_mode()) {
        fault(kernel::Fault::trap, inst.line, nullptr, nullptr);
      } else {
        fault(kernel::Fault::trap, inst.line, active(), nullptr);
      }
      if (guard_mask_ || inst.guard != ptx::no_index) {
        // Inside a guard: whatever follows is another block.
        b_.SetInsertPoint(BasicBlock::Create(llvm_, "after.trap", out_));
      }
      return true;
    case Op::brkpt:
    case Op::pmevent:
    case Op::griddepcontrol:
      return true;  // no debugger attached, no counters, no dependent launches: nothing happens
    case Op::call:
      lower_call(inst);
      return true;
    default:
      return false;
  }
  if (scalar_mode()) {
    lower_warp_scalar(inst);
    return true;
  }
  if (width() != 32) return fail(inst, "internal: warp operation in a narrow vector"), true;
  switch (inst.op) {
    case Op::shfl:
      lower_shfl(inst);
      break;
    case Op::vote:
      lower_vote(inst);
      break;
    case Op::match:
      lower_match(inst);
      break;
    case Op::redux:
      lower_redux(inst);
      break;
    case Op::activemask:
      write(inst.ops[0], Val::scalar(bits(active())), PType::b32);
      break;
    default:
      check_member(inst, inst.ops[0]);
      compiler_barrier();
  }
  return true;
}

}  // namespace limen::simt
