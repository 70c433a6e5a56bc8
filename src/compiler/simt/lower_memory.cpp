// Loads, stores, parameters and fences; asynchronous copies are in lower_async.cpp. The address's
// shape chooses the form: uniform = one scalar access, contiguous = vector access, a few pieces =
// several, else gather or scatter. An address behind a widening that may wrap tests `exact` and has
// the general form beside it.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <bit>

#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;
using kernel::BlockContext;
using kernel::LaunchContext;
using ptx::Index;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::Tok;
using PType = ptx::Type;

FrameLayout lay_out(const ptx::Module& module, const ptx::Function& function,
                    uint64_t& shared_bytes) {
  FrameLayout f;
  f.offset.assign(function.locals.size(), 0);
  for (size_t i = 0; i < function.locals.size(); ++i) {
    const ptx::Variable& v = function.locals[i];
    const uint64_t align = std::max<uint64_t>(1, v.align);
    if (v.space == Space::local) {
      f.local_bytes = (f.local_bytes + align - 1) / align * align;
      f.offset[i] = f.local_bytes;
      f.local_bytes += v.bytes;
    } else if (v.space == Space::shared) {
      shared_bytes = (shared_bytes + align - 1) / align * align;
      f.offset[i] = shared_bytes;
      shared_bytes += v.bytes;
    }
  }
  f.local_bytes = (f.local_bytes + 15) / 16 * 16;
  return f;
}

Space Lowering::space_of(const Inst& inst) const {
  if (inst.has(Tok::global)) return Space::global;
  if (inst.has(Tok::shared) || inst.has(Tok::shared__cta) || inst.has(Tok::shared__cluster))
    return Space::shared;
  if (inst.has(Tok::local)) return Space::local;
  if (inst.has(Tok::const_)) return Space::constant;
  if (inst.has(Tok::param) || inst.has(Tok::param__entry) || inst.has(Tok::param__func))
    return Space::param;
  return Space::none;  // generic
}

Value* Lowering::addresses(const Val& at) { return vec(at); }

/// A space's address to the host address behind it.
Val Lowering::to_host(Space space, Val v) {
  llvm::Type* i64 = b_.getInt64Ty();
  if (space == Space::shared) {
    Value* window = shared_window();
    if (v.shaped() && !v.correction) {
      // Windows are far below 2 GiB, so the signed reading of a 32-bit base is the right one.
      v.base = b_.CreateAdd(b_.CreateSExtOrTrunc(v.base, i64), window);
      return v;
    }
    Value* lanes = vec(v);
    Val at = Val::vector(b_.CreateAdd(b_.CreateZExtOrTrunc(lanes, vec_type(i64)), splat(window)));
    if (lanes->getType()->getScalarSizeInBits() == 32) at.index = lanes, at.index_base = window;
    return at;
  }
  return fit(v, i64);
}

/// The `.shared` address of a byte of this block.
Value* Lowering::own_shared(uint64_t offset) {
  if (!unit_.launch.cluster) return b_.getInt64(offset);
  Value* own = ctx_field(offsetof(BlockContext, shared_offset), b_.getInt32Ty());
  return b_.CreateAdd(b_.CreateZExt(own, b_.getInt64Ty()), b_.getInt64(offset));
}

Val Lowering::symbol_address(const Operand& o) {
  llvm::Type* i64 = b_.getInt64Ty();
  auto plus = [&](Value* base) {
    return b_.CreateAdd(base, b_.getInt64(static_cast<uint64_t>(o.bits)));
  };
  switch (o.symbol_kind) {
    case Operand::SymbolKind::variable: {
      const ptx::Variable& v = unit_.ptx.variables[o.index];
      if (v.space == Space::shared)
        return Val::scalar(own_shared(shared_offsets_[o.index] + static_cast<uint64_t>(o.bits)));
      Value* table = launch_field(offsetof(LaunchContext, globals), b_.getPtrTy());
      LoadInst* l = b_.CreateLoad(i64, b_.CreateConstInBoundsGEP1_64(i64, table, o.index));
      l->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(llvm_, {}));
      return Val::scalar(plus(l));
    }
    case Operand::SymbolKind::local_variable: {
      const ptx::Variable& v = fn_.locals[o.index];
      if (v.space == Space::shared)
        return Val::scalar(own_shared(frame_.offset[o.index] + static_cast<uint64_t>(o.bits)));
      if (v.space == Space::param) {
        Val a = lane_bytes(storage_of(o));
        if (a.shaped()) a.base = plus(a.base);
        return a;
      }
      Value* base;
      if (frame_base_) {
        base = b_.CreatePtrToInt(frame_base_, i64);
      } else {
        Value* local =
            b_.CreatePtrToInt(ctx_field(offsetof(BlockContext, local), b_.getPtrTy()), i64);
        Value* first = b_.CreateZExt(thread_linear_base(), i64);
        base = b_.CreateAdd(local, b_.CreateMul(first, b_.getInt64(frame_.local_bytes)));
      }
      Val a = Val::scalar(
          b_.CreateAdd(base, b_.getInt64(frame_.offset[o.index] + static_cast<uint64_t>(o.bits))));
      if (!scalar_mode() && frame_.local_bytes)
        for (uint32_t i = 0; i < width(); ++i)
          a.offsets.push_back(static_cast<int64_t>(i * frame_.local_bytes));
      return a;
    }
    case Operand::SymbolKind::param:
      if (fn_.is_entry) {
        Value* p =
            b_.CreatePtrToInt(launch_field(offsetof(LaunchContext, params), b_.getPtrTy()), i64);
        return Val::scalar(plus(b_.CreateAdd(p, b_.getInt64(fn_.params[o.index].offset))));
      } else {
        Val a = lane_bytes(storage_of(o));
        if (a.shaped()) a.base = plus(a.base);
        return a;
      }
    case Operand::SymbolKind::function:
      return Val::scalar(b_.getInt64(0xF00D000000000000ull | (uint64_t{o.index} << 4)));
    default:
      if (unit_.error.empty()) unit_.error = "symbol form is not supported";
      return Val::scalar(b_.getInt64(0));
  }
}

/// Known trailing zero bits of an address's base. Of what lies behind a barrier or a loop's phi
/// LLVM sees none of them.
uint8_t Lowering::address_zeros(const Operand& o) const {
  if (o.symbol_kind == Operand::SymbolKind::param && fn_.is_entry) {
    const uint64_t offset = fn_.params[o.index].offset + static_cast<uint64_t>(o.bits);
    return static_cast<uint8_t>(std::countr_zero(offset | kernel::params_alignment));
  }
  if (o.symbol_kind != Operand::SymbolKind::none || o.index == ptx::no_index) return 0;
  const Shape& shape = plan_.shapes[o.index];
  if (scalar_mode() || !shape.shaped()) return 0;
  const int of_offset = std::countr_zero(static_cast<uint64_t>(o.bits));
  return static_cast<uint8_t>(std::min<int>(shape.base_zeros, of_offset));
}

Lowering::Address Lowering::address(const Inst& inst, const Operand& o) {
  const Space space = space_of(inst);
  llvm::Type* i64 = b_.getInt64Ty();
  Address a;
  a.shared = space == Space::shared;
  Val v;
  if (o.symbol_kind != Operand::SymbolKind::none) {
    Operand plain = o;
    v = symbol_address(plain);
  } else if (o.index != ptx::no_index) {
    v = read_reg(o.index);
    llvm::Type* t = (v.vec ? v.vec : v.base)->getType()->getScalarType();
    if (t->isFloatingPointTy()) v = cast(v, int_type(t->getPrimitiveSizeInBits()));
    if (o.bits) {
      if (v.shaped()) {
        v.base = b_.CreateAdd(
            v.base, ConstantInt::get(v.base->getType(), static_cast<uint64_t>(o.bits), true));
      } else {
        v.vec = b_.CreateAdd(
            v.vec, ConstantInt::get(v.vec->getType(), static_cast<uint64_t>(o.bits), true));
      }
    }
  } else {
    v = Val::scalar(b_.getInt64(static_cast<uint64_t>(o.bits)));
  }
  const bool window = space == Space::shared;
  if (window) {
    a.at = to_host(Space::shared, v);
  } else {
    a.at = fit(v, i64);
    if (o.symbol_kind == Operand::SymbolKind::none && o.index != ptx::no_index)
      find_index(o.index, o.bits, a.at);
  }
  constexpr uint8_t of_window = std::countr_zero(kernel::least_shared_alignment);
  a.at.zeros = window ? std::min(address_zeros(o), of_window) : address_zeros(o);
  a.at.computed = o.symbol_kind == Operand::SymbolKind::none && o.index != ptx::no_index &&
                  !comes_from_memory(o.index);
  return a;
}

bool Lowering::is_strong(const Inst& inst) const {
  return inst.has(Tok::volatile_) || inst.has(Tok::relaxed) || inst.has(Tok::acquire) ||
         inst.has(Tok::release) || inst.has(Tok::mmio);
}

/// Keeps the optimiser from moving or merging memory accesses across this point.
void Lowering::compiler_barrier() {
  auto* ft = FunctionType::get(b_.getVoidTy(), false);
  b_.CreateCall(InlineAsm::get(ft, "", "~{memory}", true), {});
}

void Lowering::check_alignment(const Inst& inst, const Val& at, uint64_t bytes) {
  if (bytes <= 1) return;
  bool multiple = true;
  for (int64_t o : at.offsets) multiple &= o % static_cast<int64_t>(bytes) == 0;
  if (at.shaped() && multiple && at.zeros < 64 && bytes <= uint64_t{1} << at.zeros) return;
  // Multiples of the element behind a base: the base alone decides.
  const bool by_base = at.index && at.index_scale % bytes == 0;
  if ((at.shaped() && multiple) || by_base) {
    Value* base = by_base ? at.index_base : at.base;
    Value* low = b_.CreateAnd(base, b_.getInt64(bytes - 1));
    Value* bad = b_.CreateICmpNE(low, b_.getInt64(0));
    if (auto* c = dyn_cast<ConstantInt>(bad); c && c->isZero()) return;
    BasicBlock* yes = BasicBlock::Create(llvm_, "misaligned", out_);
    BasicBlock* after = BasicBlock::Create(llvm_, "aligned", out_);
    b_.CreateCondBr(bad, yes, after, MDBuilder(llvm_).createBranchWeights(1, 1000000));
    b_.SetInsertPoint(yes);
    fault(kernel::Fault::misaligned_address, inst.line, active(), base);
    b_.SetInsertPoint(after);
    return;
  }
  Value* lanes = vec(at);
  Value* window;
  Value* numbers = shared_offsets(lanes, window);  // windows are aligned
  if (!numbers) numbers = lanes;
  const auto exactly = [&] {
    // In the width that masks have there.
    Value* low = b_.CreateTrunc(numbers, vec_type(int_type(unit_.target.avx512 ? 32 : 8)));
    low = b_.CreateAnd(low, bytes - 1);
    Value* bad =
        b_.CreateAnd(active(), b_.CreateICmpNE(low, Constant::getNullValue(low->getType())));
    fault_if(bad, kernel::Fault::misaligned_address, inst.line, lanes);
    return std::vector<Value*>{};
  };
  if (unit_.target.avx512) {
    exactly();
    return;
  }
  // All lanes' bits together, active or not: a few instructions where nothing is wrong.
  Value* together =
      b_.CreateIntrinsic(Intrinsic::vector_reduce_or, {numbers->getType()}, {numbers});
  Value* low = b_.CreateAnd(together, ConstantInt::get(together->getType(), bytes - 1));
  one_of(
      b_.CreateICmpEQ(low, ConstantInt::get(low->getType(), 0)),
      [] { return std::vector<Value*>{}; }, exactly);
}

namespace {

/// Cuts the lanes into runs that are contiguous (up or down) or all the same, in halves; false when
/// too many.
struct Piece {
  uint32_t first, count;
  bool same;
  bool backwards = false;
  uint32_t lowest() const { return backwards ? first + count - 1 : first; }
};
bool cut(const Offsets& o, int64_t bytes, uint32_t first, uint32_t count, std::vector<Piece>& out) {
  if (progression(o, 0, first, count)) return out.push_back({first, count, true}), out.size() <= 4;
  for (bool backwards : {false, true})
    if (progression(o, backwards ? -bytes : bytes, first, count))
      return out.push_back({first, count, false, backwards}), out.size() <= 4;
  if (count <= 4) return false;
  return cut(o, bytes, first, count / 2, out) && cut(o, bytes, first + count / 2, count / 2, out);
}

/// A piece's lanes by rising address.
std::vector<int> lanes_of(const Piece& p) {
  std::vector<int> r;
  for (uint32_t i = 0; i < p.count; ++i) r.push_back(static_cast<int>(p.first + i));
  if (p.backwards) std::reverse(r.begin(), r.end());
  return r;
}

}  // namespace

/// Are the lanes' elements of `bytes` each in so few runs that vector accesses serve them?
bool Lowering::in_runs(const Offsets& o, uint64_t bytes) const {
  std::vector<Piece> pieces;
  return cut(o, static_cast<int64_t>(bytes), 0, width(), pieces);
}

/// Puts the lanes' addresses into memory; those of shared memory by their 32-bit offsets.
Lowering::LaneAddresses Lowering::spill_addresses(const Val& at) {
  LaneAddresses a;
  Value* numbers = addresses(at);
  if (Value* offsets = shared_offsets(numbers, a.window)) numbers = offsets;
  a.type = numbers->getType()->getScalarType();
  a.numbers = lane_room(a.type, true);
  b_.CreateStore(numbers, a.numbers);
  return a;
}

/// One array a type and use in each function: hundreds of accesses share it.
AllocaInst* Lowering::lane_room(llvm::Type* element, bool for_addresses) {
  AllocaInst*& room = lane_rooms_[{element, for_addresses}];
  if (!room) {
    room = entry_alloca(vec_type(element), for_addresses ? "addresses" : "elements", false);
    room->setAlignment(Align(64));
  }
  return room;
}

Value* Lowering::lane_pointer(const LaneAddresses& a, Value* lane) {
  Value* number = b_.CreateZExt(load_lane(a.numbers, a.type, lane), b_.getInt64Ty());
  return pointer(a.window ? b_.CreateAdd(a.window, number) : number);
}

/// The address of one lane, where lanes differ by offsets known now.
Value* Lowering::lane_pointer(const Val& at, uint32_t lane) {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer(at.base),
                               static_cast<uint64_t>(at.offsets.empty() ? 0 : at.offsets[lane]));
}

/// The 32-bit offsets of what to_host() made of them and of `window`; null for anything else.
Value* Lowering::shared_offsets(Value* addresses, Value*& window) {
  using namespace PatternMatch;
  Value *offsets, *windows;
  if (!match(addresses, m_Add(m_ZExt(m_Value(offsets)), m_Value(windows)))) return nullptr;
  if (offsets->getType()->getScalarSizeInBits() != 32) return nullptr;
  window = getSplatValue(windows);
  return window ? offsets : nullptr;
}

/// Does register `r` hold, or follow from, what was loaded? Addresses made of loaded numbers are
/// seldom in a row.
bool Lowering::comes_from_memory(Index r) {
  if (!from_memory_) {
    from_memory_ = Bits(plan_.graph.registers);
    std::vector<Index> uses, defs;
    for (bool grew = true; grew;) {
      grew = false;
      for (const auto& block : fn_.blocks)
        for (const Inst& inst : block.body) {
          uses_and_defs(plan_.graph, inst, uses, defs);
          bool loaded = (inst.op == Op::ld && !inst.has(Tok::param)) || inst.op == Op::ldu ||
                        inst.op == Op::atom || inst.op == Op::tex || inst.op == Op::call ||
                        inst.op == Op::suld;
          for (Index u : uses) loaded |= inst.op != Op::ld && from_memory_->has(u);
          if (!loaded) continue;
          for (Index d : defs)
            if (!from_memory_->has(d)) from_memory_->add(d), grew = true;
        }
    }
  }
  return from_memory_->has(r);
}

/// All lanes are active and their elements lie side by side; `first`: the first one's address.
Value* Lowering::lies_in_a_row(const Val& at, uint64_t bytes, Value*& first) {
  Value* numbers = addresses(at);
  Value* window = nullptr;
  if (Value* offsets = shared_offsets(numbers, window)) numbers = offsets;
  llvm::Type* t = numbers->getType()->getScalarType();
  first = b_.CreateExtractElement(numbers, uint64_t{0});
  Offsets row;
  for (uint32_t i = 0; i < width(); ++i) row.push_back(static_cast<int64_t>(i * bytes));
  Value* expected = b_.CreateAdd(splat(first), offsets_vector(row, t));
  Value* in_row = all(b_.CreateICmpEQ(numbers, expected));
  first = b_.CreateZExt(first, b_.getInt64Ty());
  if (window) first = b_.CreateAdd(window, first);
  return active_full() ? in_row : b_.CreateAnd(in_row, all(active()));
}

Value* Lowering::gather(Value* base, const Val& at, llvm::Type* t, uint64_t bytes) {
  (void)base;
  if (at.computed && !at.shaped()) {
    Val other = at;
    other.computed = false;
    Value* first;
    Value* in_row = lies_in_a_row(at, bytes, first);
    return one_of(
        in_row,
        [&] {
          return std::vector<Value*>{
              b_.CreateAlignedLoad(vec_type(t), pointer(first), Align(bytes))};
        },
        [&] { return std::vector<Value*>{gather(nullptr, other, t, bytes)}; }, false)[0];
  }
  const bool words = bytes == 4 || bytes == 8;
  if (at.index && unit_.target.avx2 && !unit_.target.avx512 && words && width() % 8 == 0)
    return gather_by_index(at, t, bytes);
  if (!unit_.target.avx512 && !active_full()) {
    // Without gathers as instructions LLVM makes two blocks a lane of a masked one: most of the
    // time that CUB's kernels took to compile.
    AllocaInst* result = lane_room(t, false);
    b_.CreateStore(Constant::getNullValue(vec_type(t)), result);
    const LaneAddresses from = spill_addresses(at);
    for_each_lane(active(), [&](Value* lane) {
      store_lane(result, t, lane, b_.CreateAlignedLoad(t, lane_pointer(from, lane), Align(bytes)));
    });
    return b_.CreateLoad(vec_type(t), result);
  }
  const bool planned = at.shaped() && !at.correction;
  if (!unit_.target.avx512) {
    // From a masked gather LLVM makes a vector of addresses and takes it apart again.
    const std::vector<Value*> pointers = lane_pointers(at);
    Value* all = PoisonValue::get(vec_type(t));
    for (uint32_t lane = 0; lane < width(); ++lane)
      all =
          b_.CreateInsertElement(all, b_.CreateAlignedLoad(t, pointers[lane], Align(bytes)), lane);
    return all;
  }
  Value* pointers;
  if (planned) {
    pointers =
        b_.CreateGEP(b_.getInt8Ty(), pointer(at.base), offsets_vector(at.offsets, b_.getInt32Ty()));
  } else {
    pointers = b_.CreateIntToPtr(vec(at), vec_type(b_.getPtrTy()));
  }
  return b_.CreateMaskedGather(vec_type(t), pointers, Align(bytes), active(),
                               Constant::getNullValue(vec_type(t)));
}

/// Lanes whose accesses of `lane_bytes` each the device serves together. In such a group the lowest
/// lane's value stays where several lanes store to one place; of the groups the last one's.
/// Measured: H200, driver 580.x, tests/programs/same_address_stores.
uint32_t Lowering::store_group(uint64_t lane_bytes) {
  return lane_bytes <= 4 ? 32 : lane_bytes <= 8 ? 16 : 8;
}

/// Lanes in the order in which a loop has to store them: the winners come last.
std::vector<int> Lowering::store_order(uint64_t lane_bytes) const {
  std::vector<int> order;
  const uint32_t group = std::min(store_group(lane_bytes), width());
  for (uint32_t g = 0; g < width(); g += group)
    for (uint32_t i = group; i-- > 0;) order.push_back(static_cast<int>(g + i));
  return order;
}

/// The active lane whose value stays when all store to one address.
Value* Lowering::winning_lane(uint64_t lane_bytes) {
  Value* lanes = bits(active());
  const uint32_t group = store_group(lane_bytes);
  if (group < width()) {
    Value* last = b_.CreateSub(
        b_.getInt32(31),
        b_.CreateIntrinsic(Intrinsic::ctlz, {b_.getInt32Ty()}, {lanes, b_.getFalse()}));
    Value* begin = b_.CreateAnd(last, b_.getInt32(~(group - 1)));
    lanes = b_.CreateAnd(lanes, b_.CreateShl(b_.getInt32(0xffffffff), begin));
  }
  return b_.CreateIntrinsic(Intrinsic::cttz, {b_.getInt32Ty()}, {lanes, b_.getFalse()});
}

void Lowering::scatter(const Val& at, Value* v, uint64_t bytes, uint64_t lane_bytes) {
  if (at.computed && !at.shaped()) {
    Val other = at;
    other.computed = false;
    Value* first;
    Value* in_row = lies_in_a_row(at, bytes, first);
    using None = std::vector<Value*>;
    one_of(
        in_row, [&] { return b_.CreateAlignedStore(v, pointer(first), Align(bytes)), None{}; },
        [&] { return scatter(other, v, bytes, lane_bytes), None{}; }, false);
    return;
  }
  const std::vector<int> order = store_order(lane_bytes);
  const uint32_t group = std::min(store_group(lane_bytes), width());
  Value* lanes = active_full() ? active() : b_.CreateShuffleVector(active(), order);
  if (!unit_.target.avx512 && !active_full()) {  // as in gather()
    llvm::Type* t = v->getType()->getScalarType();
    AllocaInst* values = lane_room(t, false);
    b_.CreateStore(v, values);
    const LaneAddresses to = spill_addresses(at);
    for_each_lane(lanes, [&](Value* i) {
      Value* lane = b_.CreateXor(i, group - 1);
      b_.CreateAlignedStore(load_lane(values, t, lane), lane_pointer(to, lane), Align(bytes));
    });
    return;
  }
  const bool planned = at.shaped() && !at.correction;
  if (!unit_.target.avx512) {
    const std::vector<Value*> to = lane_pointers(at);
    for (int lane : order)
      b_.CreateAlignedStore(b_.CreateExtractElement(v, static_cast<uint64_t>(lane)),
                            to[static_cast<size_t>(lane)], Align(bytes));
    return;
  }
  Value* pointers;
  if (planned)
    pointers =
        b_.CreateGEP(b_.getInt8Ty(), pointer(at.base), offsets_vector(at.offsets, b_.getInt32Ty()));
  else
    pointers = b_.CreateIntToPtr(vec(at), vec_type(b_.getPtrTy()));
  b_.CreateMaskedScatter(b_.CreateShuffleVector(v, order), b_.CreateShuffleVector(pointers, order),
                         Align(bytes), lanes);
}

/// Would LLVM make a branch a lane of a masked access to consecutive elements? AVX2 masks words
/// only.
bool Lowering::mask_is_dear(uint64_t bytes) const {
  return bytes < 4 && !unit_.target.avx512 && !active_full();
}

/// Runs `whole` where all lanes are active, else `some`; gives what they return, if anything.
Value* Lowering::if_all_active(const std::function<Value*()>& whole,
                               const std::function<Value*()>& some) {
  auto values = [](const std::function<Value*()>& way) {
    return [&way] {
      Value* v = way();
      return v ? std::vector<Value*>{v} : std::vector<Value*>{};
    };
  };
  const std::vector<Value*> either = one_of(all(active()), values(whole), values(some));
  return either.empty() ? nullptr : either[0];
}

/// One element a lane from an address that is not uniform.
Value* Lowering::load_vector(const Inst& inst, const Val& at, llvm::Type* t, uint64_t bytes) {
  if (at.correction) {
    // Either the plan holds (no lane wrapped) or every lane's own address is used.
    Val planned = at;
    planned.correction = planned.exact = nullptr;
    auto fast = [&]() -> std::vector<Value*> {
      return {planned.offsets.empty() ? splat(b_.CreateLoad(t, pointer(planned.base)))
                                      : load_vector(inst, planned, t, bytes)};
    };
    auto slow = [&]() -> std::vector<Value*> {
      return {gather(nullptr, Val::vector(vec(at)), t, bytes)};
    };
    return one_of(at.exact, fast, slow)[0];
  }
  if (!at.shaped()) return gather(nullptr, at, t, bytes);
  const auto step = static_cast<int64_t>(bytes);
  if (progression(at.offsets, step)) {
    Value* p = pointer(b_.CreateAdd(at.base, b_.getInt64(static_cast<uint64_t>(at.offsets[0]))));
    auto whole = [&]() -> Value* { return b_.CreateAlignedLoad(vec_type(t), p, Align(bytes)); };
    if (active_full()) return whole();
    if (mask_is_dear(bytes))
      return if_all_active(whole, [&] { return gather(nullptr, at, t, bytes); });
    return b_.CreateMaskedLoad(vec_type(t), p, Align(bytes), active(),
                               Constant::getNullValue(vec_type(t)));
  }
  std::vector<Piece> pieces;
  if (mask_is_dear(bytes) && cut(at.offsets, step, 0, width(), pieces))
    return if_all_active(
        [&] {
          Value* v = nullptr;
          as_if_all([&] { return v = load_vector(inst, at, t, bytes), std::vector<Value*>{}; });
          return v;
        },
        [&] { return gather(nullptr, at, t, bytes); });
  pieces.clear();
  if (cut(at.offsets, step, 0, width(), pieces)) {
    bool same = false;
    for (const Piece& p : pieces) same |= p.same;
    if (active_full() || !same) {
      Value* r = nullptr;
      uint32_t have = 0;
      for (const Piece& p : pieces) {
        Value* ptr = pointer(
            b_.CreateAdd(at.base, b_.getInt64(static_cast<uint64_t>(at.offsets[p.lowest()]))));
        auto* pt = FixedVectorType::get(t, p.count);
        Value* v;
        if (p.same) {
          v = b_.CreateVectorSplat(p.count, b_.CreateAlignedLoad(t, ptr, Align(bytes)));
        } else if (active_full()) {
          v = b_.CreateAlignedLoad(pt, ptr, Align(bytes));
        } else {
          Value* m = b_.CreateShuffleVector(active(), lanes_of(p));
          v = b_.CreateMaskedLoad(pt, ptr, Align(bytes), m, Constant::getNullValue(pt));
        }
        // Widen each piece to the full vector and put it in place.
        std::vector<int> spread(width(), -1);
        for (uint32_t i = 0; i < p.count; ++i)
          spread[p.first + i] = static_cast<int>(p.backwards ? p.count - 1 - i : i);
        Value* wide = b_.CreateShuffleVector(v, spread);
        if (!r) {
          r = wide;
        } else {
          std::vector<int> pick(width(), -1);
          for (uint32_t i = 0; i < have; ++i) pick[i] = static_cast<int>(i);
          for (uint32_t i = 0; i < p.count; ++i)
            pick[p.first + i] = static_cast<int>(width() + p.first + i);
          r = b_.CreateShuffleVector(r, wide, pick);
        }
        have = p.first + p.count;
      }
      return r;
    }
  }
  return gather(nullptr, at, t, bytes);
}

void Lowering::store_vector(const Inst& inst, const Val& at, Value* v, uint64_t bytes,
                            uint64_t lane_bytes) {
  if (at.correction) {
    Val planned = at;
    planned.correction = planned.exact = nullptr;
    BasicBlock* fast = BasicBlock::Create(llvm_, "exact", out_);
    BasicBlock* slow = BasicBlock::Create(llvm_, "wrapped", out_);
    BasicBlock* after = BasicBlock::Create(llvm_, "stored", out_);
    b_.CreateCondBr(at.exact, fast, slow, MDBuilder(llvm_).createBranchWeights(1000000, 1));
    b_.SetInsertPoint(fast);
    if (planned.offsets.empty())
      scatter(Val::vector(vec(planned)), v, bytes, lane_bytes);
    else
      store_vector(inst, planned, v, bytes, lane_bytes);
    b_.CreateBr(after);
    b_.SetInsertPoint(slow);
    scatter(Val::vector(vec(at)), v, bytes, lane_bytes);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    return;
  }
  const auto step = static_cast<int64_t>(bytes);
  if (at.shaped() && progression(at.offsets, step)) {
    Value* p = pointer(b_.CreateAdd(at.base, b_.getInt64(static_cast<uint64_t>(at.offsets[0]))));
    auto whole = [&]() -> Value* {
      b_.CreateAlignedStore(v, p, Align(bytes));
      return nullptr;
    };
    if (active_full())
      whole();
    else if (mask_is_dear(bytes))
      if_all_active(whole, [&]() -> Value* {
        scatter(at, v, bytes, lane_bytes);
        return nullptr;
      });
    else
      b_.CreateMaskedStore(v, p, Align(bytes), active());
    return;
  }
  std::vector<Piece> pieces;
  if (at.shaped() && !mask_is_dear(bytes) && cut(at.offsets, step, 0, width(), pieces)) {
    bool same = false;
    for (const Piece& p : pieces) same |= p.same;
    if (!same) {
      for (const Piece& p : pieces) {
        Value* ptr = pointer(
            b_.CreateAdd(at.base, b_.getInt64(static_cast<uint64_t>(at.offsets[p.lowest()]))));
        Value* part = b_.CreateShuffleVector(v, lanes_of(p));
        if (active_full())
          b_.CreateAlignedStore(part, ptr, Align(bytes));
        else
          b_.CreateMaskedStore(part, ptr, Align(bytes),
                               b_.CreateShuffleVector(active(), lanes_of(p)));
      }
      return;
    }
  }
  scatter(at, v, bytes, lane_bytes);
}

namespace {

/// Words of a strong vector access of up to 16 bytes come and go together: CUB's scans publish a
/// state and its value so. Aligned accesses of 16 bytes are single where AVX is.
Value* load_together(IRBuilder<>& b, Value* p, uint64_t bytes) {
  LoadInst* l = b.CreateAlignedLoad(b.getIntNTy(static_cast<unsigned>(bytes * 8)), p, Align(bytes));
  l->setAtomic(AtomicOrdering::Acquire);
  return l;
}

void store_together(IRBuilder<>& b, Value* p, const std::vector<Value*>& words, uint64_t bytes) {
  auto* t = b.getIntNTy(static_cast<unsigned>(bytes * 8));
  Value* all = ConstantInt::get(t, 0);
  for (size_t i = 0; i < words.size(); ++i) {
    const unsigned n = words[i]->getType()->getScalarSizeInBits();
    Value* w = b.CreateZExt(b.CreateBitCast(words[i], b.getIntNTy(n)), t);
    all = b.CreateOr(all, b.CreateShl(w, i * n));
  }
  b.CreateAlignedStore(all, p, Align(bytes))->setAtomic(AtomicOrdering::Release);
}

Value* word_of(IRBuilder<>& b, Value* all, uint32_t i, llvm::Type* t) {
  const unsigned n = t->getScalarSizeInBits();
  return b.CreateBitCast(b.CreateTrunc(b.CreateLShr(all, uint64_t{i} * n), b.getIntNTy(n)), t);
}

}  // namespace

void Lowering::lower_load(const Inst& inst) {
  const PType t = inst.type();
  llvm::Type* st = scalar_type(t);
  const uint64_t bytes = ptx::size_of(t);
  const Operand& d = inst.ops[0];
  std::vector<const Operand*> dests;
  if (d.kind == Operand::Kind::vector)
    for (const Operand& e : d.elems) dests.push_back(&e);
  else
    dests.push_back(&d);
  const uint32_t count = static_cast<uint32_t>(dests.size());
  const bool strong = is_strong(inst);
  // The destination may be wider than the type: sign-extend where the type is signed.
  auto put = [&](const Operand& o, Val v) {
    if (o.kind == Operand::Kind::reg && ptx::is_signed(t)) {
      unsigned rb = register_type(o.index)->getPrimitiveSizeInBits();
      if (rb > bytes * 8)
        v = map({v}, [&](const std::vector<Value*>& x) {
          llvm::Type* wide = int_type(rb);
          return b_.CreateSExt(x[0], x[0]->getType()->isVectorTy() ? vec_type(wide) : wide);
        });
    }
    write(o, v, t);
  };
  if (const auto loaded = loaded_.find(&inst); loaded != loaded_.end()) {
    for (uint32_t i = 0; i < count; ++i) put(*dests[i], Val::vector(loaded->second[i]));
    return;
  }
  Address a = address(inst, inst.ops[1]);
  const bool entry_param = space_of(inst) == Space::param;
  check_alignment(inst, a.at, bytes * count);
  if (!strong) prefetch_next(inst, a.at, bytes * count);
  if (strong) compiler_barrier();
  const bool together = strong && count > 1 && bytes * count <= 16;
  if (a.at.uniform() && together) {
    Value* whole = load_together(b_, pointer(a.at.base), bytes * count);
    for (uint32_t i = 0; i < count; ++i) put(*dests[i], Val::scalar(word_of(b_, whole, i, st)));
  } else if (a.at.uniform()) {
    std::vector<Val> values;
    for (uint32_t i = 0; i < count; ++i) {
      Value* p = pointer(b_.CreateAdd(a.at.base, b_.getInt64(i * bytes)));
      LoadInst* l = b_.CreateAlignedLoad(st, p, Align(bytes), strong);
      if (entry_param || inst.has(Tok::const_))
        l->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(llvm_, {}));
      if (strong && (st->isIntegerTy() || st->isFloatingPointTy()))
        l->setAtomic(AtomicOrdering::Acquire);
      values.push_back(Val::scalar(l));
    }
    for (uint32_t i = 0; i < count; ++i) put(*dests[i], values[i]);
  } else if (together) {
    std::vector<AllocaInst*> words;
    for (uint32_t i = 0; i < count; ++i) {
      words.push_back(entry_alloca(vec_type(st), "words"));
      b_.CreateStore(Constant::getNullValue(vec_type(st)), words[i]);
    }
    const LaneAddresses from = spill_addresses(a.at);
    for_each_lane(active(), [&](Value* lane) {
      Value* whole = load_together(b_, lane_pointer(from, lane), bytes * count);
      for (uint32_t i = 0; i < count; ++i)
        store_lane(words[i], st, lane, word_of(b_, whole, i, st));
    });
    for (uint32_t i = 0; i < count; ++i)
      put(*dests[i], Val::vector(b_.CreateLoad(vec_type(st), words[i])));
  } else {
    std::vector<Value*> values = strong ? load_words(inst, a.at, st, bytes, count)
                                        : load_grouped(inst, a.at, st, bytes, count);
    for (uint32_t i = 0; i < count; ++i) put(*dests[i], Val::vector(values[i]));
  }
  if (strong) compiler_barrier();
}

void Lowering::lower_store(const Inst& inst) {
  const PType t = inst.type();
  llvm::Type* st = scalar_type(t);
  const uint64_t bytes = ptx::size_of(t);
  const Operand& s = inst.ops[1];
  std::vector<Val> values;
  if (s.kind == Operand::Kind::vector)
    for (const Operand& e : s.elems) values.push_back(read(e, t));
  else
    values.push_back(read(s, t));
  const uint32_t count = static_cast<uint32_t>(values.size());
  const bool strong = is_strong(inst);
  if (storing_.members.count(&inst)) return join_stores(inst, bytes, values);
  Address a = address(inst, inst.ops[0]);
  check_alignment(inst, a.at, bytes * count);
  if (!strong && begin_stores(inst, a.at, bytes, count)) return join_stores(inst, bytes, values);
  if (strong) compiler_barrier();
  const bool together = strong && count > 1 && bytes * count <= 16;
  if (a.at.uniform()) {
    Value* winner = nullptr;
    std::vector<Value*> words;
    for (uint32_t i = 0; i < count; ++i) {
      Value* v;
      if (values[i].uniform()) {
        v = values[i].base;
      } else {
        if (!winner) winner = winning_lane(bytes * count);
        v = b_.CreateExtractElement(vec(values[i]), winner);
      }
      if (together) {
        words.push_back(v);
        continue;
      }
      StoreInst* store = b_.CreateAlignedStore(
          v, pointer(b_.CreateAdd(a.at.base, b_.getInt64(i * bytes))), Align(bytes), strong);
      if (strong) store->setAtomic(AtomicOrdering::Release);
    }
    if (together) store_together(b_, pointer(a.at.base), words, bytes * count);
  } else if (count > 1 && a.at.shaped() && !a.at.correction && (count == 2 || count == 4) &&
             !mask_is_dear(bytes) &&
             progression(a.at.offsets, static_cast<int64_t>(bytes * count))) {
    std::vector<Value*> words;
    for (const Val& v : values) words.push_back(vec(v));
    store_interleaved(a.at, bytes, words);
  } else if (together) {
    std::vector<Value*> words;
    for (const Val& v : values) words.push_back(spill(v, st));
    const LaneAddresses to = spill_addresses(a.at);
    for_each_lane(active(), [&](Value* lane) {
      std::vector<Value*> own;
      for (Value* w : words) own.push_back(load_lane(w, st, lane));
      store_together(b_, lane_pointer(to, lane), own, bytes * count);
    });
  } else if ((count == 2 || count == 4) && (bytes == 4 || bytes == 8) && !a.at.shaped() &&
             width() % (16 / bytes) == 0) {
    std::vector<Value*> words;
    for (const Val& v : values) words.push_back(vec(v));
    scatter_words(a.at, bytes, words);
  } else {
    for (uint32_t i = 0; i < count; ++i) {
      Val at = a.at;
      if (i && at.shaped())
        at.base = b_.CreateAdd(at.base, b_.getInt64(i * bytes));
      else if (i)
        at.vec = b_.CreateAdd(at.vec, ConstantInt::get(at.vec->getType(), i * bytes));
      store_vector(inst, at, vec(values[i]), bytes, bytes * count);
    }
  }
  if (strong) compiler_barrier();
}

void Lowering::memory_fence(const Inst& inst) {
  // Threads of one block share a worker: the compiler alone can reorder what they see.
  if (inst.has(Tok::cta) && !inst.has(Tok::sc)) return compiler_barrier();
  b_.CreateFence(AtomicOrdering::SequentiallyConsistent);
}

/// No address of this device belongs to a multicast object (cuMulticastCreate makes none). At other
/// addresses an H200 (driver 580.159.04) stores and reduces as `st` and `red` do, and ld_reduce is
/// a fault.
void Lowering::lower_multimem(const Inst& inst) {
  if (inst.has(Tok::st)) return lower_store(inst);
  if (inst.has(Tok::red)) return lower_atomic(inst);
  Val at = address(inst, inst.ops[1]).at;
  Value* lanes = active();
  Value* first = at.uniform() || scalar_mode() ? at.base : nullptr;
  if (!first) {
    Value* lane =
        b_.CreateIntrinsic(Intrinsic::cttz, {b_.getInt32Ty()}, {bits(lanes), b_.getFalse()});
    first = b_.CreateExtractElement(vec(at), lane);
  }
  then(b_.getTrue(), [&] { fault(kernel::Fault::no_multicast, inst.line, lanes, first); });
}

bool Lowering::lower_memory(const Inst& inst) {
  switch (inst.op) {
    case Op::ld:
    case Op::ldu:
    case Op::st: {
      if (inst.has(Tok::async) || inst.has(Tok::bulk)) return lower_async(inst);
      const bool is_store = inst.op == Op::st;
      const Operand& a = inst.ops[is_store ? 0 : 1];
      const bool call_param = space_of(inst) == Space::param &&
                              a.symbol_kind != Operand::SymbolKind::none &&
                              !(fn_.is_entry && a.symbol_kind == Operand::SymbolKind::param);
      if (call_param)
        lower_param(inst, is_store);
      else if (is_store)
        lower_store(inst);
      else
        lower_load(inst);
      return true;
    }
    case Op::atom:
    case Op::red:
      if (inst.has(Tok::async)) return lower_async(inst);
      lower_atomic(inst);
      return true;
    case Op::membar:
    case Op::fence:
      memory_fence(inst);
      return true;
    case Op::cp:
    case Op::mbarrier:
    case Op::mapa:
    case Op::getctarank:
    case Op::alloca:
    case Op::stacksave:
    case Op::stackrestore:
      return lower_async(inst);
    case Op::tensormap:
      lower_tensormap(inst);
      return true;
    case Op::multimem:
      lower_multimem(inst);
      return true;
    case Op::clusterlaunchcontrol:
      lower_clusterlaunchcontrol(inst);
      return true;
    case Op::prefetch:
    case Op::prefetchu:
    case Op::applypriority:
    case Op::discard:
      return true;  // hints about caches; nothing observable
    case Op::createpolicy:
      write(inst.ops[0], Val::scalar(b_.getInt64(0)), PType::b64);
      return true;
    case Op::cvta: {
      const bool shared =
          inst.has(Tok::shared) || inst.has(Tok::shared__cta) || inst.has(Tok::shared__cluster);
      if (!shared) return false;
      const PType t = inst.type();
      Val v = fit(read(inst.ops[1], t), b_.getInt64Ty());
      Value* window = shared_window();
      if (inst.has(Tok::to)) window = b_.CreateNeg(window);
      if (v.shaped())
        v.base = b_.CreateAdd(v.base, window);
      else
        v.vec = b_.CreateAdd(v.vec, splat(window));
      write(inst.ops[0], v, t);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace limen::simt
