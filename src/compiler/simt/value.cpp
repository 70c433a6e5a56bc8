// Operands, registers and lane values: see lower.h. Twin of shape.cpp: a register whose shape is
// scalar + offsets is kept as its scalar; a vector is made only where one is asked for.
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/simt/lower.h"
#include "devlib/device_runtime.h"

namespace limen::simt {

using namespace llvm;
using kernel::BlockContext;
using kernel::LaunchContext;
using ptx::Index;
using ptx::Operand;
using ptx::Space;
using ptx::SReg;

llvm::Type* Lowering::int_type(uint32_t n) const { return IntegerType::get(llvm_, n); }

llvm::Type* Lowering::scalar_type(ptx::Type t) const {
  if (t == ptx::Type::f32) return llvm::Type::getFloatTy(llvm_);
  if (t == ptx::Type::f64) return llvm::Type::getDoubleTy(llvm_);
  return int_type(static_cast<uint32_t>(bits_of(t)));
}

llvm::Type* Lowering::vec_type(llvm::Type* t) const { return FixedVectorType::get(t, width()); }

Constant* Lowering::splat_const(llvm::Type* scalar, int64_t v) const {
  return ConstantInt::get(vec_type(scalar), static_cast<uint64_t>(v), true);
}

Value* Lowering::splat(Value* scalar) { return b_.CreateVectorSplat(width(), scalar); }

Value* Lowering::offsets_vector(const Offsets& o, llvm::Type* element) {
  std::vector<Constant*> c;
  for (uint32_t i = 0; i < width(); ++i)
    c.push_back(ConstantInt::get(element, static_cast<uint64_t>(o[i]), true));
  return ConstantVector::get(c);
}

Value* Lowering::vec(const Val& v) {
  if (v.vec) return v.vec;
  Value* r = splat(v.base);
  if (!v.offsets.empty()) r = b_.CreateAdd(r, offsets_vector(v.offsets, v.base->getType()));
  if (v.correction) r = b_.CreateAdd(r, v.correction);
  return r;
}

llvm::Type* Lowering::like(Value* v, llvm::Type* scalar) {
  const auto* t = dyn_cast<FixedVectorType>(v->getType());
  return t ? FixedVectorType::get(scalar, t->getNumElements()) : scalar;
}

Value* Lowering::cast(Value* v, llvm::Type* scalar) {
  llvm::Type* to = like(v, scalar);
  return v->getType() == to ? v : b_.CreateBitCast(v, to);
}

Val Lowering::cast(const Val& v, llvm::Type* scalar) {
  if (v.vec) return Val::vector(cast(v.vec, scalar));
  if (v.base->getType() == scalar) return v;
  if (v.uniform()) return Val::scalar(cast(v.base, scalar));
  return Val::vector(cast(vec(v), scalar));
}

Val Lowering::fit(const Val& v, llvm::Type* to) {
  llvm::Type* from = (v.vec ? v.vec : v.base)->getType()->getScalarType();
  if (from == to) return v;
  const unsigned fb = from->getPrimitiveSizeInBits(), tb = to->getPrimitiveSizeInBits();
  if (fb == tb) return cast(v, to);
  llvm::Type* from_int = int_type(fb);
  llvm::Type* to_int = int_type(tb);
  Val i = cast(v, from_int);
  Val r;
  if (tb > fb) {
    if (i.uniform())
      r = Val::scalar(b_.CreateZExt(i.base, to_int));
    else
      r = Val::vector(b_.CreateZExt(vec(i), vec_type(to_int)));
  } else if (i.shaped()) {
    r = i;
    r.base = b_.CreateTrunc(i.base, to_int);
    r.correction = r.exact = nullptr;
    for (int64_t& o : r.offsets)
      o = static_cast<int64_t>(static_cast<uint64_t>(o) << (64 - tb)) >> (64 - tb);
    if (i.correction && tb > 32) r = Val::vector(b_.CreateTrunc(vec(i), vec_type(to_int)));
  } else {
    r = Val::vector(b_.CreateTrunc(i.vec, vec_type(to_int)));
  }
  return cast(r, to);
}

AllocaInst* Lowering::entry_alloca(llvm::Type* type, const Twine& name, bool zero) {
  IRBuilder<> e(entry_, entry_->begin());
  AllocaInst* a = e.CreateAlloca(type, nullptr, name);
  if (zero) e.CreateStore(Constant::getNullValue(type), a);
  return a;
}

llvm::Type* Lowering::register_type(Index r) const {
  if (r == plan_.graph.carry()) return int_type(1);
  return scalar_type(fn_.registers[r].type);
}

Lowering::Slot& Lowering::slot(Index r) {
  Slot& s = slots_[r];
  if (s.value) return s;
  const Shape& shape = plan_.shapes[r];
  llvm::Type* t = register_type(r);
  const std::string name = r < fn_.registers.size() ? fn_.registers[r].name : "cc";
  s.value = entry_alloca(shape.varying() ? vec_type(t) : t, name);
  if (shape.shaped() && shape.guarded) {
    s.correction = entry_alloca(vec_type(int_type(64)), name + ".fix");
    s.exact = entry_alloca(int_type(1), name + ".exact");
  }
  return s;
}

/// An integer that is known in every lane when the kernel is compiled.
bool Lowering::has_known_value(Index r) const {
  llvm::Type* t = register_type(r);
  return plan_.shapes[r].known_base() && t->isIntegerTy() && !t->isIntegerTy(1);
}

Val Lowering::read_reg(Index r) {
  Slot& s = slot(r);
  const Shape& shape = plan_.shapes[r];
  if (has_known_value(r)) {
    // The analysis used the constant; the rules of lower_integer.cpp need to see it too.
    Val v = Val::scalar(ConstantInt::get(s.value->getAllocatedType(),
                                         static_cast<uint64_t>(*shape.known_base()), true));
    v.offsets = shape.offsets;
    return v;
  }
  Value* v = b_.CreateLoad(s.value->getAllocatedType(), s.value);
  if (nan_bits_ && plan_.nans.raw.has(r)) v = canonical_nan(v);
  if (shape.varying()) return Val::vector(v);
  Val r2 = Val::scalar(v);
  r2.offsets = shape.offsets;
  if (s.correction) {
    r2.correction = b_.CreateLoad(s.correction->getAllocatedType(), s.correction);
    r2.exact = b_.CreateLoad(int_type(1), s.exact);
  }
  return r2;
}

Val Lowering::read_int(const Operand& o, uint32_t n) {
  switch (n) {
    case 1:
      return read(o, ptx::Type::pred);
    case 8:
      return read(o, ptx::Type::b8);
    case 16:
      return read(o, ptx::Type::b16);
    case 32:
      return read(o, ptx::Type::b32);
    default:
      return read(o, ptx::Type::b64);
  }
}

/// Where the machine flushes subnormals, some constants are hidden. Of 0, 1 and -1 LLVM would make
/// x of x * 1, x + -0 or x * (c ? 1 : -1), and nothing would flush x.
Value* Lowering::keep_arithmetic(Value* number) {
  if (!unit_.flush_by_mxcsr) return number;
  const auto* c = dyn_cast<ConstantInt>(b_.CreateBitCast(number, b_.getInt32Ty()));
  const uint64_t magnitude = c ? c->getZExtValue() & 0x7fffffff : 1;
  return magnitude < 0x00800000 || magnitude == 0x3f800000 ? hidden(number) : number;
}

/// The same 32 or 64 bits, but LLVM cannot see through.
Value* Lowering::hidden(Value* v) {
  const bool wide = v->getType()->getScalarSizeInBits() == 64;
  Value* f = cast(v, wide ? b_.getDoubleTy() : b_.getFloatTy());
  return b_.CreateBitCast(b_.CreateIntrinsic(Intrinsic::arithmetic_fence, {f->getType()}, {f}),
                          v->getType());
}

Val Lowering::read(const Operand& o, ptx::Type t) {
  llvm::Type* want = scalar_type(t);
  switch (o.kind) {
    case Operand::Kind::reg: {
      Val v = read_reg(o.index);
      if (o.negated) {
        if (v.uniform())
          v.base = b_.CreateNot(v.base);
        else
          v = Val::vector(b_.CreateNot(vec(v)));
      }
      v = fit(v, want);
      if (t == ptx::Type::f32 && unit_.flush_by_mxcsr && plan_.subnormals.has(o.index))
        v = v.uniform() ? Val::scalar(hidden(v.base)) : Val::vector(hidden(vec(v)));
      return v;
    }
    case Operand::Kind::imm: {
      if (o.imm_is_float) {
        double d;
        float f;
        uint64_t raw = static_cast<uint64_t>(o.bits);
        if (t == ptx::Type::f32 && o.imm_is_f64) {
          std::memcpy(&d, &raw, 8);
          f = static_cast<float>(d);
          uint32_t u;
          std::memcpy(&u, &f, 4);
          raw = u;
        } else if (t == ptx::Type::f64 && !o.imm_is_f64) {
          uint32_t u = static_cast<uint32_t>(raw);
          std::memcpy(&f, &u, 4);
          d = f;
          std::memcpy(&raw, &d, 8);
        }
        const unsigned n = want->getPrimitiveSizeInBits();
        Value* number = cast(ConstantInt::get(llvm_, APInt(64, raw).zextOrTrunc(n)), want);
        return Val::scalar(n == 32 ? keep_arithmetic(number) : number);
      }
      if (want->isFloatingPointTy()) {
        // An integer literal in a float slot is its value.
        return Val::scalar(ConstantFP::get(want, static_cast<double>(o.bits)));
      }
      return Val::scalar(ConstantInt::get(
          llvm_,
          APInt(64, static_cast<uint64_t>(o.bits)).sextOrTrunc(want->getPrimitiveSizeInBits())));
    }
    case Operand::Kind::sreg:
      return fit(read_sreg(o.sreg, o.component), want);
    case Operand::Kind::symbol:
      return fit(symbol_address(o), want);
    default:
      unit_.error = "operand form is not supported here";
      return Val::scalar(UndefValue::get(want));
  }
}

void Lowering::write(const Operand& dest, const Val& v, ptx::Type t) {
  if (dest.kind == Operand::Kind::sink) return;
  if (dest.kind == Operand::Kind::pair) return write(dest.elems[0], v, t);
  if (dest.kind != Operand::Kind::reg) {
    unit_.error = "destination form is not supported here";
    return;
  }
  write_reg(dest.index, v);
}

void Lowering::write_reg(Index r, const Val& value) {
  const Shape& shape = plan_.shapes[r];
  Slot& s = slot(r);
  Val v = fit(value, register_type(r));
  const bool keep =
      rp_ && node_ != no_node && !full_ && rp_->masked.has(node_) && rp_->keep[node_].has(r);
  if (!shape.varying()) {
    if (!v.shaped() || v.offsets != shape.offsets) {
      if (unit_.error.empty())
        unit_.error = "internal: shape of " + fn_.registers[r].name + " is not what was planned";
      return;
    }
    Value* base = v.base;
    if (write_guard_) {
      Value* g = write_guard_;
      base = b_.CreateSelect(g, base, b_.CreateLoad(s.value->getAllocatedType(), s.value));
      if (s.correction) {
        Value* c = v.correction ? v.correction : Constant::getNullValue(vec_type(int_type(64)));
        Value* e = v.exact ? v.exact : b_.getTrue();
        b_.CreateStore(b_.CreateSelect(g, c, b_.CreateLoad(c->getType(), s.correction)),
                       s.correction);
        b_.CreateStore(b_.CreateSelect(g, e, b_.CreateLoad(e->getType(), s.exact)), s.exact);
      }
      b_.CreateStore(base, s.value);
      return;
    }
    b_.CreateStore(base, s.value);
    if (s.correction) {
      b_.CreateStore(v.correction ? v.correction : Constant::getNullValue(vec_type(int_type(64))),
                     s.correction);
      b_.CreateStore(v.exact ? v.exact : b_.getTrue(), s.exact);
    }
    return;
  }
  Value* next = vec(v);
  Value* old = nullptr;
  if (write_guard_) {
    old = b_.CreateLoad(next->getType(), s.value);
    next = b_.CreateSelect(write_guard_, next, old);
  }
  // Under a guard with side effects the lanes are guard_mask_; else the node's.
  Value* lanes = guard_mask_ ? guard_mask_ : keep ? node_mask_ : nullptr;
  if (lanes) {
    if (!old) old = b_.CreateLoad(next->getType(), s.value);
    next = b_.CreateSelect(lanes, next, old);
  }
  b_.CreateStore(next, s.value);
}

Value* Lowering::active() {
  if (guard_mask_) return guard_mask_;
  if (scalar_mode()) return b_.getTrue();
  if (node_mask_) return node_mask_;
  if (live_full_) return ConstantInt::getTrue(vec_type(int_type(1)));
  Value* v = b_.CreateLoad(live_->getAllocatedType(), live_);
  return v;
}

bool Lowering::active_full() const {
  return scalar_mode() || (!guard_mask_ && !node_mask_ && live_full_);
}

Value* Lowering::bits(Value* mask) {
  if (!mask->getType()->isVectorTy()) return b_.CreateZExt(mask, int_type(32));
  Value* v = b_.CreateBitCast(mask, int_type(width()));
  return width() == 32 ? v : b_.CreateZExt(v, int_type(32));
}

/// By testing each lane's bit, not by a bitcast of the integer: LLVM 19's combiner never ends on
/// logic of <8 x i1> values that come out of integer bitcasts (xor of two, and not of one of them).
Value* Lowering::mask_of_bits(Value* i32) {
  Offsets o;
  for (uint32_t i = 0; i < width(); ++i)
    o.push_back(static_cast<int64_t>(static_cast<int32_t>(1u << i)));
  Value* bit = b_.CreateAnd(splat(i32), offsets_vector(o, b_.getInt32Ty()));
  return b_.CreateICmpNE(bit, Constant::getNullValue(bit->getType()));
}

Value* Lowering::any(Value* mask) {
  if (!mask->getType()->isVectorTy()) return mask;
  Value* v = b_.CreateBitCast(mask, int_type(width()));
  return b_.CreateICmpNE(v, ConstantInt::get(v->getType(), 0));
}

Value* Lowering::all(Value* mask) {
  if (!mask->getType()->isVectorTy()) return mask;
  Value* v = b_.CreateBitCast(mask, int_type(width()));
  return b_.CreateICmpEQ(v, Constant::getAllOnesValue(v->getType()));
}

Value* Lowering::lane_ids() {
  Offsets o;
  for (uint32_t i = 0; i < width(); ++i) o.push_back(i);
  return offsets_vector(o, int_type(32));
}

Shape Lowering::transfer_of(const Inst& inst) const {
  LaunchShape l = unit_.launch;
  l.frame_bytes = static_cast<uint32_t>(frame_.local_bytes);
  return transfer(inst, plan_.shapes, l, fn_);
}

Value* Lowering::pointer(Value* address) { return b_.CreateIntToPtr(address, b_.getPtrTy()); }

namespace {
LoadInst* invariant(LoadInst* load) {
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(load->getContext(), {}));
  return load;
}
}  // namespace

Value* Lowering::ctx_field(size_t offset, llvm::Type* t, bool is_invariant) {
  Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx_, offset);
  LoadInst* l = b_.CreateLoad(t, p);
  return is_invariant ? invariant(l) : l;
}

Value* Lowering::launch_field(size_t offset, llvm::Type* t) {
  Value* launch = ctx_field(offsetof(BlockContext, launch), b_.getPtrTy());
  return invariant(b_.CreateLoad(t, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), launch, offset)));
}

Value* Lowering::runtime(size_t offset) {
  Value* rt = launch_field(offsetof(LaunchContext, runtime), b_.getPtrTy());
  return invariant(
      b_.CreateLoad(b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), rt, offset)));
}

Value* Lowering::warp_index() { return warp_; }

Value* Lowering::thread_linear_base() {
  if (scalar_mode()) {
    Value* w = b_.CreateLoad(b_.getInt32Ty(),
                             b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_ctx_,
                                                           offsetof(kernel::WarpContext, warp)));
    Value* l = b_.CreateLoad(b_.getInt32Ty(),
                             b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_ctx_,
                                                           offsetof(kernel::WarpContext, lane)));
    return b_.CreateAdd(b_.CreateShl(w, 5), l);
  }
  return b_.CreateMul(warp_, b_.getInt32(width()));
}

/// Outside of cluster launches the block is a cluster of its own.
Value* Lowering::read_cluster_sreg(SReg s, uint8_t c) {
  auto i32 = b_.getInt32Ty();
  const bool one = !unit_.launch.cluster;
  auto size = [&](uint8_t i) -> Value* {
    return one ? static_cast<Value*>(b_.getInt32(1))
               : launch_field(offsetof(LaunchContext, cluster) + 4 * i, i32);
  };
  auto block = [&](uint8_t i) { return ctx_field(offsetof(BlockContext, ctaid) + 4 * i, i32); };
  switch (s) {
    case SReg::cluster_ctarank:
      if (one) return b_.getInt32(0);
      return b_.CreateLShr(ctx_field(offsetof(BlockContext, shared_offset), i32),
                           kernel::cluster_window_shift);
    case SReg::cluster_nctarank:
      return b_.CreateMul(b_.CreateMul(size(0), size(1)), size(2));
    default:
      break;
  }
  if (c > 2) return b_.getInt32(0);
  switch (s) {
    case SReg::cluster_ctaid:
      return one ? static_cast<Value*>(b_.getInt32(0)) : b_.CreateURem(block(c), size(c));
    case SReg::cluster_nctaid:
      return size(c);
    case SReg::clusterid:
      return one ? block(c) : b_.CreateUDiv(block(c), size(c));
    default: {
      Value* grid = launch_field(offsetof(LaunchContext, grid) + 4 * c, i32);
      return one ? grid : b_.CreateUDiv(grid, size(c));
    }
  }
}

Val Lowering::read_sreg(SReg s, uint8_t c) {
  auto i32 = b_.getInt32Ty();
  auto block_dim = [&](uint8_t i) -> Value* {
    if (i > 2) return b_.getInt32(0);
    if (unit_.launch.block_known()) return b_.getInt32(unit_.launch.block[i]);
    return launch_field(offsetof(LaunchContext, block) + 4 * i, i32);
  };
  auto linear = [&]() -> Value* {
    Value* base = thread_linear_base();
    return scalar_mode() ? base : b_.CreateAdd(splat(base), lane_ids());
  };
  auto spread = [&](Value* v) { return scalar_mode() ? v : splat(v); };
  auto wrap = [&](Value* v) { return scalar_mode() ? Val::scalar(v) : Val::vector(v); };
  const Shape shape = shape_of_sreg(s, c, unit_.launch);
  switch (s) {
    case SReg::tid: {
      if (c > 2) return Val::scalar(b_.getInt32(0));
      if (!scalar_mode() && shape.shaped()) {
        Val v;
        v.offsets = shape.offsets;
        Value* base = thread_linear_base();
        const uint32_t* bd = unit_.launch.block;
        // The base is lane 0's value less lane 0's offset, which is 0 for every tid shape.
        if (c == 0)
          v.base = bd[1] * bd[2] == 1 ? base : b_.CreateURem(base, b_.getInt32(bd[0]));
        else if (c == 1) {
          v.base = b_.CreateUDiv(base, b_.getInt32(bd[0]));
          if (bd[2] != 1) v.base = b_.CreateURem(v.base, b_.getInt32(bd[1]));
        } else {
          v.base = b_.CreateUDiv(base, b_.getInt32(bd[0] * bd[1]));
        }
        if (shape.low == shape.high) v.base = b_.getInt32(static_cast<uint32_t>(shape.low));
        return v;
      }
      Value* l = linear();
      if (c == 0) return wrap(b_.CreateURem(l, spread(block_dim(0))));
      if (c == 1)
        return wrap(b_.CreateURem(b_.CreateUDiv(l, spread(block_dim(0))), spread(block_dim(1))));
      return wrap(b_.CreateUDiv(l, spread(b_.CreateMul(block_dim(0), block_dim(1)))));
    }
    case SReg::ntid:
      return Val::scalar(block_dim(c));
    case SReg::ctaid:
      if (c > 2) return Val::scalar(b_.getInt32(0));
      return Val::scalar(ctx_field(offsetof(BlockContext, ctaid) + 4 * c, i32));
    case SReg::nctaid:
      if (c > 2) return Val::scalar(b_.getInt32(0));
      return Val::scalar(launch_field(offsetof(LaunchContext, grid) + 4 * c, i32));
    case SReg::laneid:
    case SReg::lanemask_eq:
    case SReg::lanemask_lt:
    case SReg::lanemask_le:
    case SReg::lanemask_gt:
    case SReg::lanemask_ge: {
      if (s == SReg::laneid && shape.shaped() && !scalar_mode()) {
        Val v = Val::scalar(b_.getInt32(0));
        v.offsets = shape.offsets;
        return v;
      }
      Value* lane = b_.CreateAnd(linear(), spread(b_.getInt32(31)));
      if (s == SReg::laneid) return wrap(lane);
      Value* one = spread(b_.getInt32(1));
      Value* eq = b_.CreateShl(one, lane);
      Value* lt = b_.CreateSub(eq, one);
      Value* r = s == SReg::lanemask_eq   ? eq
                 : s == SReg::lanemask_lt ? lt
                 : s == SReg::lanemask_le ? b_.CreateOr(lt, eq)
                 : s == SReg::lanemask_ge ? b_.CreateNot(lt)
                                          : b_.CreateNot(b_.CreateOr(lt, eq));
      return wrap(r);
    }
    case SReg::warpid:
      return Val::scalar(b_.CreateLShr(thread_linear_base(), 5));
    case SReg::nwarpid: {
      Value* n = b_.CreateMul(b_.CreateMul(block_dim(0), block_dim(1)), block_dim(2));
      return Val::scalar(b_.CreateLShr(b_.CreateAdd(n, b_.getInt32(31)), 5));
    }
    case SReg::smid:
      return Val::scalar(ctx_field(offsetof(BlockContext, worker), i32));
    case SReg::nsmid:
      return Val::scalar(launch_field(offsetof(LaunchContext, sm_count), i32));
    case SReg::gridid:
      return Val::scalar(launch_field(offsetof(LaunchContext, grid_id), b_.getInt64Ty()));
    case SReg::current_graph_exec:
      return Val::scalar(b_.CreateCall(
          FunctionType::get(b_.getInt64Ty(),
                            {b_.getPtrTy(), b_.getPtrTy(), i32, i32, i32, b_.getPtrTy()}, false),
          runtime(offsetof(kernel::Runtime, device_call)),
          {ctx_, warp_ctx_ ? warp_ctx_ : ConstantPointerNull::get(b_.getPtrTy()),
           b_.getInt32(kernel::device_call_current_graph_exec), thread_linear_base(),
           b_.getInt32(0), ConstantPointerNull::get(b_.getPtrTy())}));
    case SReg::dynamic_smem_size:
      return Val::scalar(launch_field(offsetof(LaunchContext, dynamic_shared_bytes), i32));
    case SReg::total_smem_size:
    case SReg::aggr_smem_size:
      return Val::scalar(launch_field(offsetof(LaunchContext, shared_bytes), i32));
    case SReg::clock:
    case SReg::clock64:
    case SReg::clock_hi: {
      Value* t = b_.CreateIntrinsic(b_.getInt64Ty(), Intrinsic::readcyclecounter, {});
      if (s == SReg::clock64) return Val::scalar(t);
      if (s == SReg::clock_hi) t = b_.CreateLShr(t, 32);
      return Val::scalar(b_.CreateTrunc(t, i32));
    }
    case SReg::globaltimer:
    case SReg::globaltimer_lo:
    case SReg::globaltimer_hi: {
      auto* ft = FunctionType::get(b_.getInt64Ty(), {}, false);
      Value* t = b_.CreateCall(ft, runtime(offsetof(kernel::Runtime, globaltimer)), {});
      if (s == SReg::globaltimer) return Val::scalar(t);
      if (s == SReg::globaltimer_hi) t = b_.CreateLShr(t, 32);
      return Val::scalar(b_.CreateTrunc(t, i32));
    }
    // Reserved shared memory: this device reserves none.
    case SReg::reserved_smem_offset_begin:
    case SReg::reserved_smem_offset_end:
    case SReg::reserved_smem_offset_cap:
    case SReg::reserved_smem_offset_0:
    case SReg::reserved_smem_offset_1:
      return Val::scalar(b_.getInt32(0));
    case SReg::is_explicit_cluster:
      return Val::scalar(b_.CreateICmpNE(
          launch_field(offsetof(LaunchContext, explicit_cluster), i32), b_.getInt32(0)));
    case SReg::cluster_ctaid:
    case SReg::cluster_ctarank:
    case SReg::cluster_nctaid:
    case SReg::cluster_nctarank:
    case SReg::clusterid:
    case SReg::nclusterid:
      return Val::scalar(read_cluster_sreg(s, c));
    // The grid's workspace, which cooperative_groups finds its barrier in.
    case SReg::envreg1:
    case SReg::envreg2: {
      Value* v = launch_field(offsetof(LaunchContext, workspace), b_.getInt64Ty());
      return Val::scalar(b_.CreateTrunc(s == SReg::envreg1 ? b_.CreateLShr(v, 32) : v, i32));
    }
    default:
      if (unit_.error.empty())
        unit_.error = "special register " + std::string(ptx::name(s)) + " is not supported";
      return Val::scalar(b_.getInt32(0));
  }
}

Val Lowering::map(const std::vector<Val>& args,
                  const std::function<Value*(const std::vector<Value*>&)>& f) {
  bool uniform = true;
  for (const Val& v : args) uniform &= v.uniform();
  std::vector<Value*> in;
  for (const Val& v : args) in.push_back(uniform ? v.base : vec(v));
  return uniform ? Val::scalar(f(in)) : Val::vector(f(in));
}

void Lowering::then(Value* condition, const std::function<void()>& body) {
  BasicBlock* yes = BasicBlock::Create(llvm_, "then", out_);
  BasicBlock* after = BasicBlock::Create(llvm_, "after", out_);
  b_.CreateCondBr(condition, yes, after);
  b_.SetInsertPoint(yes);
  body();
  if (!b_.GetInsertBlock()->getTerminator()) b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void Lowering::for_each_lane(Value* mask, const std::function<void(Value*)>& body) {
  if (scalar_mode()) return body(b_.getInt32(0));
  Value* all_bits = bits(mask);
  BasicBlock* before = b_.GetInsertBlock();
  BasicBlock* loop = BasicBlock::Create(llvm_, "lane", out_);
  BasicBlock* after = BasicBlock::Create(llvm_, "lanes.done", out_);
  b_.CreateCondBr(b_.CreateICmpNE(all_bits, b_.getInt32(0)), loop, after);
  b_.SetInsertPoint(loop);
  PHINode* left = b_.CreatePHI(b_.getInt32Ty(), 2);
  left->addIncoming(all_bits, before);
  Value* lane = b_.CreateIntrinsic(Intrinsic::cttz, {b_.getInt32Ty()}, {left, b_.getTrue()});
  body(lane);
  Value* rest = b_.CreateAnd(left, b_.CreateSub(left, b_.getInt32(1)));
  left->addIncoming(rest, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, after);
  b_.SetInsertPoint(after);
}

Value* Lowering::spill(const Val& v, llvm::Type* element) {
  llvm::Type* t = scalar_mode() ? element : vec_type(element);
  AllocaInst* a = entry_alloca(t, "spill", false);
  a->setAlignment(Align(64));
  Val c = cast(v, element);
  b_.CreateStore(scalar_mode() ? c.base : vec(c), a);
  return a;
}

Value* Lowering::load_lane(Value* array, llvm::Type* element, Value* lane) {
  return b_.CreateLoad(element, b_.CreateInBoundsGEP(element, array, lane));
}

void Lowering::store_lane(Value* array, llvm::Type* element, Value* lane, Value* v) {
  b_.CreateStore(v, b_.CreateInBoundsGEP(element, array, lane));
}

void Lowering::fault(kernel::Fault kind, uint32_t line, Value* lanes, Value* address) {
  auto* ft = FunctionType::get(b_.getVoidTy(),
                               {b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty(), b_.getInt32Ty(),
                                b_.getInt32Ty(), b_.getInt64Ty()},
                               false);
  Value* linear = thread_linear_base();
  if (!scalar_mode()) {
    Value* first =
        b_.CreateIntrinsic(Intrinsic::cttz, {b_.getInt32Ty()}, {bits(lanes), b_.getFalse()});
    linear = b_.CreateAdd(linear, first);
  }
  CallInst* call = b_.CreateCall(ft, runtime(offsetof(kernel::Runtime, fault)),
                                 {ctx_, b_.getInt32(static_cast<uint32_t>(kind)),
                                  b_.CreateLShr(linear, 5), b_.CreateAnd(linear, b_.getInt32(31)),
                                  b_.getInt32(line), address ? address : b_.getInt64(0)});
  call->addFnAttr(Attribute::NoReturn);
  call->addFnAttr(Attribute::Cold);
  b_.CreateUnreachable();
}

void Lowering::fault_if(Value* lanes_bad, kernel::Fault kind, uint32_t line, Value* address) {
  Value* bad = any(lanes_bad);
  if (auto* c = dyn_cast<ConstantInt>(bad); c && c->isZero()) return;
  BasicBlock* yes = BasicBlock::Create(llvm_, "fault", out_);
  BasicBlock* after = BasicBlock::Create(llvm_, "no.fault", out_);
  MDNode* weights = MDNode::get(
      llvm_, {MDString::get(llvm_, "branch_weights"), ConstantAsMetadata::get(b_.getInt32(1)),
              ConstantAsMetadata::get(b_.getInt32(1000000))});
  b_.CreateCondBr(bad, yes, after, weights);
  b_.SetInsertPoint(yes);
  if (address && address->getType()->isVectorTy()) {
    Value* first =
        b_.CreateIntrinsic(Intrinsic::cttz, {b_.getInt32Ty()}, {bits(lanes_bad), b_.getFalse()});
    address = b_.CreateExtractElement(address, first);
  }
  fault(kind, line, lanes_bad, address);
  b_.SetInsertPoint(after);
}

}  // namespace limen::simt
