// Asynchronous copies, mbarriers, clusters and the dynamic stack. Copies, stores and reductions
// complete when they are issued, which PTX allows; only their counts of bytes are left to tell, so
// wait_group has nothing to wait for and an mbarrier is told at once.
// Invariant: an mbarrier lies in the shared memory of a block whose cluster runs on one worker, and
// fibers switch in calls only: its updates need no atomics.
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/ptx/table.h"
#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;
using kernel::BlockContext;
using kernel::Runtime;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::Tok;
using PType = ptx::Type;

namespace {

// An mbarrier's word: pending arrivals, arrivals expected of each phase, bytes under way (may be
// negative), and the phase's number, of which a waiter sees whether it changed.
constexpr unsigned count_bits = 20, bytes_bits = 21;
constexpr unsigned expected_at = count_bits, bytes_at = 2 * count_bits;
constexpr unsigned phase_at = bytes_at + bytes_bits;
constexpr uint64_t count_mask = (uint64_t{1} << count_bits) - 1;

constexpr uint64_t window_part_mask = (uint64_t{1} << kernel::cluster_window_shift) - 1;

}  // namespace

/// Host address of `o` read as an address of `space`, whatever the instruction says.
Val Lowering::address_in(Space space, const Operand& o) {
  Inst plain;
  if (space == Space::global) plain.mods.add(Tok::global);
  if (space == Space::shared) plain.mods.add(Tok::shared);
  return address(plain, o).at;
}

/// Host address of `.shared` address 0.
Value* Lowering::shared_window() {
  auto* window = llvm::cast<LoadInst>(ctx_field(offsetof(BlockContext, shared), b_.getPtrTy()));
  // So that an access whose offset is aligned needs no test.
  window->setMetadata(
      LLVMContext::MD_align,
      MDNode::get(llvm_, {ConstantAsMetadata::get(b_.getInt64(kernel::least_shared_alignment))}));
  return b_.CreatePtrToInt(window, b_.getInt64Ty());
}

/// Runs the body for 0, step, 2 * step ... below `end` (i64).
void Lowering::count_loop(Value* end, uint64_t step, const std::function<void(Value*)>& body) {
  BasicBlock* before = b_.GetInsertBlock();
  BasicBlock* loop = BasicBlock::Create(llvm_, "count", out_);
  BasicBlock* after = BasicBlock::Create(llvm_, "counted", out_);
  b_.CreateCondBr(b_.CreateICmpNE(end, b_.getInt64(0)), loop, after);
  b_.SetInsertPoint(loop);
  PHINode* at = b_.CreatePHI(b_.getInt64Ty(), 2);
  at->addIncoming(b_.getInt64(0), before);
  body(at);
  Value* next = b_.CreateAdd(at, b_.getInt64(step));
  at->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpULT(next, end), loop, after);
  b_.SetInsertPoint(after);
}

/// Runs the body for each block of the cluster whose bit is set (i64). The body is given what finds
/// the place of a host address in that block's part of the window.
void Lowering::for_each_block(
    Value* blocks, const std::function<void(const std::function<Value*(Value*)>&)>& body) {
  Value* window = shared_window();
  count_loop(b_.getInt64(16), 1, [&](Value* rank) {
    then(b_.CreateICmpNE(b_.CreateAnd(b_.CreateLShr(blocks, rank), 1), b_.getInt64(0)), [&] {
      Value* part = b_.CreateAdd(window, b_.CreateShl(rank, kernel::cluster_window_shift));
      body([&](Value* a) {
        return b_.CreateAdd(part, b_.CreateAnd(b_.CreateSub(a, window), window_part_mask));
      });
    });
  });
}

// ---- cp.async ----------------------------------------------------------------------------------

/// cp.async copies at once: completion before the wait is allowed, and nobody can tell.
void Lowering::lower_async_copy(const Inst& inst) {
  auto* n = dyn_cast<ConstantInt>(read(inst.ops[2], PType::u32).base);
  if (!n) return fail(inst, "cp.async needs a constant size");
  const uint64_t bytes = n->getZExtValue();
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return fail(inst, "cp.async copies 4, 8 or 16 bytes");
  const bool hinted = inst.has(Tok::L2__cache_hint);
  const bool has_size = inst.ops.size() > (hinted ? 4u : 3u);
  Val source_size;
  if (has_size) {
    // A predicate says to ignore the source: as a size of 0.
    const Operand& o = inst.ops[3];
    const bool ignore = o.kind == Operand::Kind::reg && fn_.registers[o.index].type == PType::pred;
    source_size = ignore ? map({read(o, PType::pred)},
                               [&](const std::vector<Value*>& v) {
                                 llvm::Type* i32 = b_.getInt32Ty();
                                 if (v[0]->getType()->isVectorTy()) i32 = vec_type(i32);
                                 return b_.CreateSelect(v[0], ConstantInt::get(i32, 0),
                                                        ConstantInt::get(i32, bytes));
                               })
                         : read(o, PType::u32);
  }
  Val from = address_in(Space::global, inst.ops[1]);
  Val to = address_in(Space::shared, inst.ops[0]);
  check_alignment(inst, from, bytes);
  check_alignment(inst, to, bytes);
  Value* saved = guard_mask_;
  Value* lanes = active();
  llvm::Type* t = b_.getInt32Ty();
  // What lies behind the source's size is zero; a size may end inside a word.
  auto cut = [&](Value* v, Value* size, uint64_t at) {
    llvm::Type* vt = v->getType();
    Value* left = b_.CreateSub(size, ConstantInt::get(vt, at));
    Value* keep = b_.CreateSub(b_.CreateShl(ConstantInt::get(vt, 1), b_.CreateShl(left, 3)),
                               ConstantInt::get(vt, 1));
    Value* whole = b_.CreateICmpUGE(left, ConstantInt::get(vt, 4));
    return b_.CreateSelect(whole, v, b_.CreateAnd(v, keep));
  };
  for (uint64_t at = 0; at < bytes; at += 4) {
    auto moved = [&](Val v) {
      if (v.shaped())
        v.base = b_.CreateAdd(v.base, b_.getInt64(at));
      else
        v.vec = b_.CreateAdd(v.vec, ConstantInt::get(v.vec->getType(), at));
      return v;
    };
    if (scalar_mode()) {
      Value* v;
      if (has_size) {
        AllocaInst* tmp = entry_alloca(t, "copy");
        b_.CreateStore(b_.getInt32(0), tmp);
        then(b_.CreateICmpULT(b_.getInt32(static_cast<uint32_t>(at)), source_size.base), [&] {
          Value* word = b_.CreateLoad(t, pointer(moved(from).base));
          b_.CreateStore(cut(word, source_size.base, at), tmp);
        });
        v = b_.CreateLoad(t, tmp);
      } else {
        v = b_.CreateLoad(t, pointer(moved(from).base));
      }
      b_.CreateStore(v, pointer(moved(to).base));
      continue;
    }
    Val src = moved(from), dst = moved(to);
    Value* v;
    if (has_size) {
      Value* size = vec(source_size);
      guard_mask_ = b_.CreateAnd(
          lanes, b_.CreateICmpULT(splat(b_.getInt32(static_cast<uint32_t>(at))), size));
      v = src.uniform() ? gather(nullptr, Val::vector(vec(src)), t, 4)
                        : load_vector(inst, src, t, 4);
      v = b_.CreateSelect(guard_mask_, cut(v, size, at), Constant::getNullValue(v->getType()));
      guard_mask_ = saved;
    } else {
      v = src.uniform() ? splat(b_.CreateLoad(t, pointer(src.base))) : load_vector(inst, src, t, 4);
    }
    if (dst.uniform())
      scatter(Val::vector(vec(dst)), v, 4, 4);
    else
      store_vector(inst, dst, v, 4, 4);
  }
}

// ---- Bulk copies and reductions ----------------------------------------------------------------

/// cp.async.bulk and cp.reduce.async.bulk (not .tensor), one active lane's after the other.
void Lowering::lower_bulk(const Inst& inst) {
  if (inst.has(Tok::prefetch)) return;
  llvm::Type* i64 = b_.getInt64Ty();
  const bool to_global = inst.has(Tok::bulk_group);
  const bool from_global = !to_global && inst.has(Tok::global);
  const bool tells = inst.has(Tok::mbarrier__complete_tx__bytes);
  const bool reduces = inst.type_count != 0;
  const bool hinted = inst.has(Tok::L2__cache_hint);
  Val to = address_in(to_global ? Space::global : Space::shared, inst.ops[0]);
  Val from = address_in(from_global ? Space::global : Space::shared, inst.ops[1]);
  Val size = fit(read(inst.ops[2], PType::u32), i64);
  Val barrier = tells ? address_in(Space::shared, inst.ops[3]) : Val::scalar(b_.getInt64(0));
  Val mask;
  const bool many = inst.has(Tok::multicast__cluster), some = inst.has(Tok::cp_mask);
  if (many) mask = read(inst.ops[4], PType::b16);
  if (some) mask = read(inst.ops[hinted ? 4 : 3], PType::b16);
  check_alignment(inst, to, 16);
  check_alignment(inst, from, 16);
  check_alignment(inst, size, 16);
  if (tells) check_alignment(inst, barrier, 8);
  Value* tos = spill(to, i64);
  Value* froms = spill(from, i64);
  Value* sizes = spill(size, i64);
  Value* barriers = spill(barrier, i64);
  Value* masks = many || some ? spill(mask, b_.getInt16Ty()) : nullptr;
  compiler_barrier();
  for_each_lane(active(), [&](Value* lane) {
    Value* d = load_lane(tos, i64, lane);
    Value* s = load_lane(froms, i64, lane);
    Value* n = load_lane(sizes, i64, lane);
    Value* m = load_lane(barriers, i64, lane);
    auto copy = [&](Value* into, Value* told) {
      if (reduces) {
        const PType t = inst.type();
        llvm::Type* st = scalar_type(t);
        count_loop(n, ptx::size_of(t), [&](Value* at) {
          Value* v = b_.CreateLoad(st, pointer(b_.CreateAdd(s, at)));
          atomic_one(inst, pointer(b_.CreateAdd(into, at)), v, nullptr, !to_global);
        });
      } else if (some) {
        Value* bytes = b_.CreateZExt(load_lane(masks, b_.getInt16Ty(), lane), i64);
        count_loop(n, 1, [&](Value* at) {
          Value* bit = b_.CreateAnd(b_.CreateLShr(bytes, b_.CreateAnd(at, 15)), 1);
          then(b_.CreateICmpNE(bit, b_.getInt64(0)), [&] {
            b_.CreateStore(b_.CreateLoad(b_.getInt8Ty(), pointer(b_.CreateAdd(s, at))),
                           pointer(b_.CreateAdd(into, at)));
          });
        });
      } else {
        b_.CreateMemCpy(pointer(into), Align(16), pointer(s), Align(16), n);
      }
      if (tells) update_mbarrier(pointer(told), b_.getInt64(0), b_.getInt64(0), b_.CreateNeg(n));
    };
    if (!many) return copy(d, m);
    for_each_block(b_.CreateZExt(load_lane(masks, b_.getInt16Ty(), lane), i64),
                   [&](const std::function<Value*(Value*)>& same) { copy(same(d), same(m)); });
  });
  compiler_barrier();
}

/// st.bulk: `size` zero bytes.
void Lowering::lower_bulk_fill(const Inst& inst) {
  if (inst.ops[2].bits != 0) return fail(inst, "st.bulk stores zeros only");
  llvm::Type* i64 = b_.getInt64Ty();
  Val to = address(inst, inst.ops[0]).at;
  Val size = read(inst.ops[1], PType::u64);
  check_alignment(inst, to, 8);
  check_alignment(inst, size, 8);
  Value* tos = spill(to, i64);
  Value* sizes = spill(size, i64);
  for_each_lane(active(), [&](Value* lane) {
    b_.CreateMemSet(pointer(load_lane(tos, i64, lane)), b_.getInt8(0), load_lane(sizes, i64, lane),
                    Align(8));
  });
}

/// st.async and red.async: the access, then its bytes are told to the mbarrier. Those of global
/// memory have no mbarrier.
void Lowering::lower_async_store(const Inst& inst) {
  const bool reduces = inst.op == Op::red;
  const bool tells = inst.has(Tok::mbarrier__complete_tx__bytes);
  const uint64_t bytes = ptx::size_of(inst.type()) * ptx::vector_of(inst);
  llvm::Type* i64 = b_.getInt64Ty();
  if (reduces)
    lower_atomic(inst);
  else
    lower_store(inst);
  if (!tells) return;
  Val barrier = address(inst, inst.ops[2]).at;
  check_alignment(inst, barrier, 8);
  Value* barriers = spill(barrier, i64);
  compiler_barrier();
  for_each_lane(active(), [&](Value* lane) {
    update_mbarrier(pointer(load_lane(barriers, i64, lane)), b_.getInt64(0), b_.getInt64(0),
                    ConstantInt::get(i64, -static_cast<int64_t>(bytes), true));
  });
  compiler_barrier();
}

// ---- mbarrier ----------------------------------------------------------------------------------

/// Takes `arrivals` from the pending ones and `dropped` from those of later phases, adds to the
/// bytes under way, and begins the next phase when neither is left. Returns the word before.
Value* Lowering::update_mbarrier(Value* p, Value* arrivals, Value* dropped, Value* bytes) {
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Function* f = unit_.module.getFunction("mbarrier.update");
  if (!f) {
    auto* ft = FunctionType::get(i64, {b_.getPtrTy(), i64, i64, i64}, false);
    f = llvm::Function::Create(ft, GlobalValue::InternalLinkage, "mbarrier.update", unit_.module);
    f->addFnAttr(Attribute::NoUnwind);
    f->addFnAttr(Attribute::NoInline);
    f->addFnAttr("target-cpu", unit_.target.cpu);
    f->addFnAttr("target-features", unit_.target.features);
    IRBuilder<> b(BasicBlock::Create(llvm_, "entry", f));
    Value* word = b.CreateLoad(i64, f->getArg(0), true);
    Value* pending = b.CreateSub(b.CreateAnd(word, count_mask), f->getArg(1));
    Value* expected =
        b.CreateSub(b.CreateAnd(b.CreateLShr(word, expected_at), count_mask), f->getArg(2));
    Value* under_way =
        b.CreateAdd(b.CreateAShr(b.CreateShl(word, 64 - phase_at), 64 - bytes_bits), f->getArg(3));
    Value* phase = b.CreateLShr(word, phase_at);
    Value* over = b.CreateAnd(b.CreateICmpEQ(pending, b.getInt64(0)),
                              b.CreateICmpEQ(under_way, b.getInt64(0)));
    Value* left = b.CreateAnd(b.CreateSelect(over, expected, pending), count_mask);
    Value* next = b.CreateOr(left, b.CreateShl(b.CreateAnd(expected, count_mask), expected_at));
    next = b.CreateOr(
        next, b.CreateShl(b.CreateAnd(under_way, (uint64_t{1} << bytes_bits) - 1), bytes_at));
    next = b.CreateOr(next, b.CreateShl(b.CreateAdd(phase, b.CreateZExt(over, i64)), phase_at));
    b.CreateStore(next, f->getArg(0), true);
    b.CreateRet(word);
  }
  return b_.CreateCall(f, {p, arrivals, dropped, bytes});
}

void Lowering::lower_mbarrier_wait(const Inst& inst) {
  llvm::Type* i64 = b_.getInt64Ty();
  const bool parity = inst.has(Tok::parity);
  Val at = address(inst, inst.ops[1]).at;
  check_alignment(inst, at, 8);
  Val state = fit(read(inst.ops[2], parity ? PType::u32 : PType::b64), i64);
  auto is_over = [&](Value* p, Value* x) {
    Value* phase = b_.CreateLShr(b_.CreateLoad(i64, p, true), phase_at);
    return parity ? b_.CreateICmpNE(b_.CreateAnd(phase, 1), b_.CreateAnd(x, 1))
                  : b_.CreateICmpNE(phase, b_.CreateLShr(x, phase_at));
  };
  compiler_barrier();
  if (scalar_mode() || (at.uniform() && state.uniform() && transfer_of(inst).uniform())) {
    write(inst.ops[0], Val::scalar(is_over(pointer(at.base), state.base)), PType::pred);
    return compiler_barrier();
  }
  if (transfer_of(inst).uniform()) {
    Value* phase = b_.CreateLShr(b_.CreateLoad(i64, pointer(at.base), true), phase_at);
    Value* same = b_.CreateICmpEQ(b_.CreateLShr(vec(state), phase_at), splat(phase));
    Value* some_wait = any(b_.CreateAnd(active(), same));
    // Lanes that could go on wait for those that cannot. Where those need what the former do next,
    // this never ends: an error then, not a hang.
    constexpr uint32_t most_polls = 1 << 24;
    Value* mixed = b_.CreateAnd(some_wait, any(b_.CreateAnd(active(), b_.CreateNot(same))));
    AllocaInst* polls = entry_alloca(b_.getInt32Ty(), "polls");
    Value* count = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), polls), b_.getInt32(1));
    count = b_.CreateSelect(mixed, count, b_.getInt32(0));
    b_.CreateStore(count, polls);
    then(b_.CreateICmpEQ(count, b_.getInt32(most_polls)),
         [&] { fault(kernel::Fault::lanes_apart, inst.line, active(), nullptr); });
    write(inst.ops[0], Val::scalar(b_.CreateNot(some_wait)), PType::pred);
    return compiler_barrier();
  }
  Value* addresses = spill(at, i64);
  Value* states = spill(state, i64);
  Value* result = spill(Val::scalar(b_.getInt64(0)), i64);
  for_each_lane(active(), [&](Value* lane) {
    Value* over = is_over(pointer(load_lane(addresses, i64, lane)), load_lane(states, i64, lane));
    store_lane(result, i64, lane, b_.CreateZExt(over, i64));
  });
  Value* r = b_.CreateLoad(vec_type(i64), result);
  write(inst.ops[0], Val::vector(b_.CreateICmpNE(r, Constant::getNullValue(r->getType()))),
        PType::pred);
  compiler_barrier();
}

void Lowering::lower_mbarrier(const Inst& inst) {
  llvm::Type* i64 = b_.getInt64Ty();
  if (inst.has(Tok::pending_count)) {
    Val state = read(inst.ops[1], PType::b64);
    return write(inst.ops[0],
                 map({state},
                     [&](const std::vector<Value*>& v) {
                       llvm::Type* i32 = b_.getInt32Ty();
                       if (v[0]->getType()->isVectorTy()) i32 = vec_type(i32);
                       return b_.CreateTrunc(b_.CreateAnd(v[0], count_mask), i32);
                     }),
                 PType::u32);
  }
  if (inst.has(Tok::test_wait) || inst.has(Tok::try_wait)) return lower_mbarrier_wait(inst);
  // `cp.async.mbarrier.arrive`: this thread's copies are complete, so the arrival is due now.
  // Without .noinc the barrier first expects one more in this phase: nothing changes.
  const bool copies = inst.op == Op::cp;
  if (copies && !inst.has(Tok::noinc)) return;
  const bool drop = inst.has(Tok::arrive_drop), arrive = inst.has(Tok::arrive) || drop;
  const bool transaction = inst.has(Tok::expect_tx) || inst.has(Tok::complete_tx);
  const size_t where = arrive && !copies ? 1 : 0;
  if (where == 1 && inst.has(Tok::shared__cluster) && inst.ops[0].kind != Operand::Kind::sink)
    return fail(inst, "an arrival at a barrier of the cluster has no result but '_'");
  Val at = address(inst, inst.ops[where]).at;
  check_alignment(inst, at, 8);
  Val count = inst.ops.size() > where + 1 ? fit(read(inst.ops[where + 1], PType::u32), i64)
                                          : Val::scalar(b_.getInt64(1));
  Value* addresses = spill(at, i64);
  Value* counts = spill(count, i64);
  Value* result = where == 1 ? spill(Val::scalar(b_.getInt64(0)), i64) : nullptr;
  compiler_barrier();
  for_each_lane(active(), [&](Value* lane) {
    Value* p = pointer(load_lane(addresses, i64, lane));
    Value* n = load_lane(counts, i64, lane);
    if (inst.has(Tok::inval)) return;
    if (inst.has(Tok::init)) {
      Value* field = b_.CreateAnd(n, count_mask);
      b_.CreateStore(b_.CreateOr(field, b_.CreateShl(field, expected_at)), p);
      return;
    }
    Value* zero = b_.getInt64(0);
    Value* arrivals = !arrive ? zero : transaction ? b_.getInt64(1) : n;
    Value* bytes = !transaction ? zero : inst.has(Tok::complete_tx) ? b_.CreateNeg(n) : n;
    Value* word = update_mbarrier(p, arrivals, drop ? arrivals : zero, bytes);
    if (result) store_lane(result, i64, lane, word);
  });
  compiler_barrier();
  if (!result) return;
  Value* r = b_.CreateLoad(scalar_mode() ? i64 : vec_type(i64), result);
  write(inst.ops[0], scalar_mode() ? Val::scalar(r) : Val::vector(r), PType::b64);
}

// ---- Clusters ----------------------------------------------------------------------------------

/// The same place in the part of the block with rank b.
void Lowering::lower_mapa(const Inst& inst) {
  const PType t = inst.type();
  const bool generic = !inst.has(Tok::shared__cluster);
  if (generic && (inst.ops[1].kind == Operand::Kind::symbol || ptx::size_of(t) != 8))
    return fail(inst, "mapa of generic addresses takes a 64-bit register");
  Val a = read(inst.ops[1], t), rank = fit(read(inst.ops[2], PType::u32), scalar_type(t));
  Value* window = generic ? shared_window() : ConstantInt::get(scalar_type(t), 0);
  write(inst.ops[0],
        map({a, rank},
            [&](const std::vector<Value*>& v) {
              Value* base = v[0]->getType()->isVectorTy() ? splat(window) : window;
              Value* inside = b_.CreateAnd(b_.CreateSub(v[0], base), window_part_mask);
              Value* part = b_.CreateShl(v[1], kernel::cluster_window_shift);
              return b_.CreateAdd(b_.CreateAdd(inside, part), base);
            }),
        t);
}

void Lowering::lower_getctarank(const Inst& inst) {
  const PType t = inst.type();
  const bool generic = !inst.has(Tok::shared__cluster);
  if (generic && (inst.ops[1].kind == Operand::Kind::symbol || ptx::size_of(t) != 8))
    return fail(inst, "getctarank of generic addresses takes a 64-bit register");
  Val a = read(inst.ops[1], t);
  Value* window = generic ? shared_window() : ConstantInt::get(scalar_type(t), 0);
  write(inst.ops[0],
        map({a},
            [&](const std::vector<Value*>& v) -> Value* {
              const bool lanes = v[0]->getType()->isVectorTy();
              Value* offset = b_.CreateSub(v[0], lanes ? splat(window) : window);
              llvm::Type* i32 = b_.getInt32Ty();
              if (lanes) i32 = vec_type(i32);
              return b_.CreateTrunc(b_.CreateLShr(offset, kernel::cluster_window_shift), i32);
            }),
        PType::u32);
}

void Lowering::lower_cluster_barrier(const Inst& inst) {
  if (!warp_ctx_) return fail(inst, "internal: cluster barrier under the region strategy");
  check_together(inst);
  auto* ft = FunctionType::get(
      b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty()}, false);
  b_.CreateCall(
      ft, runtime(offsetof(Runtime, cluster_barrier)),
      {ctx_, warp_ctx_, b_.getInt32(inst.has(Tok::wait) ? 1 : 0), b_.getInt32(inst.line)});
}

// ---- Dynamic stack -----------------------------------------------------------------------------

/// alloca takes from the native stack, room for every lane; stackrestore gives back only where all
/// live lanes do so together, since the others may still use what lies above.
void Lowering::lower_stack(const Inst& inst) {
  llvm::Type* i64 = b_.getInt64Ty();
  if (inst.op == Op::stacksave) {
    Value* p = b_.CreateStackSave();
    return write(inst.ops[0], Val::scalar(b_.CreatePtrToInt(p, i64)), PType::u64);
  }
  if (inst.op == Op::stackrestore) {
    Val to = read(inst.ops[0], PType::u64);
    if (!scalar_mode() && (node_mask_ || guard_mask_ || !to.uniform())) return;
    b_.CreateStackRestore(pointer(to.base));
    return;
  }
  uint64_t align = inst.ops.size() > 2 ? static_cast<uint64_t>(inst.ops[2].bits) : 8;
  if (align == 0 || (align & (align - 1)) != 0 || align > 4096)
    return fail(inst, "the alignment of alloca must be a power of two, 4096 at most");
  align = std::max<uint64_t>(align, 16);
  Val size = read(inst.ops[1], PType::u64);
  Value* most = size.base;
  if (!size.uniform()) {
    Value* v = b_.CreateSelect(active(), vec(size), Constant::getNullValue(vec_type(i64)));
    most = b_.CreateIntrinsic(Intrinsic::vector_reduce_umax, {v->getType()}, {v});
  }
  // Sizes near 2^64 must not wrap to small ones: anything this large overflows every stack.
  constexpr uint64_t huge = uint64_t{1} << 32;
  most = b_.CreateBinaryIntrinsic(Intrinsic::umin, most, b_.getInt64(huge));
  Value* each = b_.CreateAnd(b_.CreateAdd(most, b_.getInt64(align - 1)), b_.getInt64(~(align - 1)));
  Value* total = scalar_mode() ? each : b_.CreateMul(each, b_.getInt64(width()));
  out_->addFnAttr("probe-stack", "inline-asm");
  AllocaInst* memory = b_.CreateAlloca(b_.getInt8Ty(), total, "alloca");
  memory->setAlignment(Align(align));
  Value* base = b_.CreatePtrToInt(memory, i64);
  if (scalar_mode()) return write(inst.ops[0], Val::scalar(base), PType::u64);
  Value* lane = b_.CreateZExt(lane_ids(), vec_type(i64));
  write(inst.ops[0], Val::vector(b_.CreateAdd(splat(base), b_.CreateMul(lane, splat(each)))),
        PType::u64);
}

bool Lowering::lower_async(const Inst& inst) {
  switch (inst.op) {
    case Op::cp:
      if (inst.has(Tok::commit_group) || inst.has(Tok::wait_group) || inst.has(Tok::wait_all))
        return true;
      if (inst.has(Tok::tensor))
        lower_tensor(inst);
      else if (inst.has(Tok::mbarrier))
        lower_mbarrier(inst);
      else if (inst.has(Tok::bulk))
        lower_bulk(inst);
      else
        lower_async_copy(inst);
      return true;
    case Op::mbarrier:
      lower_mbarrier(inst);
      return true;
    case Op::st:
      if (inst.has(Tok::bulk)) {
        lower_bulk_fill(inst);
        return true;
      }
      [[fallthrough]];
    case Op::red:
      lower_async_store(inst);
      return true;
    case Op::mapa:
      lower_mapa(inst);
      return true;
    case Op::getctarank:
      lower_getctarank(inst);
      return true;
    case Op::alloca:
    case Op::stacksave:
    case Op::stackrestore:
      lower_stack(inst);
      return true;
    default:
      return false;
  }
}

}  // namespace limen::simt
