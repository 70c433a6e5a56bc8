// The record of a warp that holds what lives across a barrier: its layout, and how a region fetches
// and leaves it. What never changes (constants.h) is computed again instead. See
// docs/design/simt.md, "Barriers".
#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;
using kernel::BlockContext;
using ptx::Index;

namespace {
constexpr uint64_t slot_header_bytes = 64;  // u32 next region + 1, u32 live lanes
constexpr uint64_t slot_live = 4;
}  // namespace

/// Must a register that lives across a barrier be kept? Not where it can be computed again.
bool Lowering::needs_slot(Index r) const { return !plan_.constants.has(r) && !has_known_value(r); }

/// One record a warp holds every register that lives across some barrier.
void Lowering::lay_out_slots() {
  slot_map_.assign(plan_.graph.registers, 0);
  uint64_t at = slot_header_bytes;
  if (plan_.regions.size() == 1) {
    slot_bytes_ = 0;
    return;
  }
  Bits live(plan_.graph.registers);
  for (size_t i = 1; i < plan_.regions.size(); ++i)
    live.merge(plan_.graph.live_in[plan_.regions[i].region.entry]);
  const DataLayout& dl = unit_.module.getDataLayout();
  live.each([&](size_t r) {
    if (!needs_slot(static_cast<Index>(r))) return;
    llvm::Type* t = register_type(static_cast<Index>(r));
    const Shape& s = plan_.shapes[r];
    uint64_t size = s.varying() ? (t->isIntegerTy(1) ? 8 : dl.getTypeAllocSize(t) * width())
                                : std::max<uint64_t>(8, dl.getTypeAllocSize(t));
    uint64_t align = s.varying() ? std::min<uint64_t>(64, size) : 8;
    at = (at + align - 1) / align * align;
    slot_map_[r] = at;
    at += size;
    if (s.guarded) {
      at = (at + 63) / 64 * 64;
      at += uint64_t{8} * width() + 8;
    }
  });
  slot_bytes_ = static_cast<uint32_t>((at + 63) / 64 * 64);
}

namespace {
uint64_t correction_at(uint64_t at) { return (at + 8 + 63) / 64 * 64; }
}  // namespace

/// A register that never changes, and what it is computed from, by its write.
void Lowering::compute_again(Index r, Bits& done) {
  if (done.has(r)) return;
  done.add(r);
  const Inst& write = *plan_.constants.write[r];
  std::vector<Index> uses, defs;
  uses_and_defs(plan_.graph, write, uses, defs);
  for (Index u : uses) compute_again(u, done);
  emit_inst(write);
}

void Lowering::load_slots(uint32_t region) {
  Value* slots = ctx_field(offsetof(BlockContext, slots), b_.getPtrTy());
  Value* own = b_.CreateInBoundsGEP(
      b_.getInt8Ty(), slots,
      b_.CreateMul(b_.CreateZExt(warp_, b_.getInt64Ty()), b_.getInt64(slot_bytes_)));
  auto at = [&](uint64_t o) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), own, o); };
  b_.CreateStore(none_left_.has(plan_.regions[region].region.entry)
                     ? ConstantInt::getTrue(vec_type(int_type(1)))
                     : mask_of_bits(b_.CreateLoad(b_.getInt32Ty(), at(slot_live))),
                 live_);
  Bits again(plan_.graph.registers);
  plan_.graph.live_in[plan_.regions[region].region.entry].each([&](size_t r) {
    if (plan_.constants.has(static_cast<Index>(r))) compute_again(static_cast<Index>(r), again);
    if (!needs_slot(static_cast<Index>(r))) return;
    Slot& s = slot(static_cast<Index>(r));
    const Shape& shape = plan_.shapes[r];
    llvm::Type* t = s.value->getAllocatedType();
    if (shape.varying() && t->getScalarType()->isIntegerTy(1)) {
      b_.CreateStore(mask_of_bits(b_.CreateLoad(b_.getInt32Ty(), at(slot_map_[r]))), s.value);
      return;
    }
    b_.CreateStore(b_.CreateLoad(t, at(slot_map_[r])), s.value);
    if (!s.correction) return;
    uint64_t c = correction_at(slot_map_[r]);
    b_.CreateStore(b_.CreateLoad(s.correction->getAllocatedType(), at(c)), s.correction);
    b_.CreateStore(b_.CreateLoad(b_.getInt1Ty(), at(c + 8 * width())), s.exact);
  });
}

void Lowering::save_slots(uint32_t region, NodeId barrier) {
  Value* slots = ctx_field(offsetof(BlockContext, slots), b_.getPtrTy());
  Value* own = b_.CreateInBoundsGEP(
      b_.getInt8Ty(), slots,
      b_.CreateMul(b_.CreateZExt(warp_, b_.getInt64Ty()), b_.getInt64(slot_bytes_)));
  auto at = [&](uint64_t o) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), own, o); };
  const NodeId after = plan_.graph.nodes[barrier].succ[0];
  if (!none_left_.has(after)) {
    Value* live = live_full_ ? ConstantInt::getTrue(vec_type(int_type(1)))
                             : static_cast<Value*>(b_.CreateLoad(live_->getAllocatedType(), live_));
    b_.CreateStore(bits(live), at(slot_live));
  }
  // What this region does not write is in the record already.
  Bits written(plan_.graph.registers);
  std::vector<Index> uses, defs;
  for (NodeId n : rp_->region.order)
    for (uint32_t i = plan_.graph.nodes[n].begin; i < plan_.graph.nodes[n].end; ++i) {
      uses_and_defs(plan_.graph, plan_.graph.inst(plan_.graph.nodes[n], i), uses, defs);
      for (Index d : defs) written.add(d);
    }
  if (region != 0) {  // the barrier before this region may have written a bar.red result
    for (NodeId n = 0; n < plan_.graph.nodes.size(); ++n)
      if (plan_.region_after[n] == region && plan_.graph.nodes[n].leave == Leave::barrier) {
        uses_and_defs(plan_.graph, *plan_.graph.last(plan_.graph.nodes[n]), uses, defs);
        for (Index d : defs) written.add(d);
      }
  }
  plan_.graph.live_in[after].each([&](size_t r) {
    if (!written.has(r) || !needs_slot(static_cast<Index>(r))) return;
    Slot& s = slot(static_cast<Index>(r));
    llvm::Type* t = s.value->getAllocatedType();
    Value* v = b_.CreateLoad(t, s.value);
    if (plan_.shapes[r].varying() && t->getScalarType()->isIntegerTy(1)) {
      b_.CreateStore(bits(v), at(slot_map_[r]));
      return;
    }
    b_.CreateStore(v, at(slot_map_[r]));
    if (!s.correction) return;
    uint64_t c = correction_at(slot_map_[r]);
    b_.CreateStore(b_.CreateLoad(s.correction->getAllocatedType(), s.correction), at(c));
    b_.CreateStore(b_.CreateLoad(b_.getInt1Ty(), s.exact), at(c + 8 * width()));
  });
}

}  // namespace limen::simt
