// Whole versions of nodes (whole.h): how a warp gets into them, and out when its lanes part.
// Invariant: in a whole version all lanes are live and active, and no mask variable names a lane.
#include "compiler/simt/lower.h"
#include "compiler/simt/whole.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

namespace limen::simt {

using namespace llvm;
using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;

namespace {

/// Whether all lanes (`all`) or none satisfy a comparison of `i + lane offset` with `bound`, from
/// the outermost lanes alone: scalar comparisons instead of a vector's. Neither where a lane's sum
/// wraps.
bool compare_outermost(IRBuilder<>& b, const Instruction& inst, const Val& i, const Val& bound,
                       Value*& all, Value*& none) {
  if (!i.shaped() || i.offsets.empty() || i.correction || !bound.uniform()) return false;
  const auto [least, most] = std::minmax_element(i.offsets.begin(), i.offsets.end());
  if (inst.has(Tok::eq) || inst.has(Tok::ne)) {
    auto* t = cast<IntegerType>(i.base->getType());
    Value* place = b.CreateSub(b.CreateSub(bound.base, i.base),
                               ConstantInt::get(t, static_cast<uint64_t>(*least), true));
    all = b.getFalse();
    none = b.CreateICmpUGT(place, ConstantInt::get(t, static_cast<uint64_t>(*most - *least)));
    if (inst.has(Tok::ne)) std::swap(all, none);
    return true;
  }
  const ptx::Type t = inst.type();
  const bool is_signed = t == ptx::Type::s32;
  if (!is_signed && t != ptx::Type::u32) return false;
  const bool below = inst.has(Tok::lt) || inst.has(Tok::le);
  const bool equal = inst.has(Tok::le) || inst.has(Tok::ge);
  if (!below && !inst.has(Tok::gt) && !inst.has(Tok::ge)) return false;
  auto wide = [&](Value* v) {
    return is_signed ? b.CreateSExt(v, b.getInt64Ty()) : b.CreateZExt(v, b.getInt64Ty());
  };
  auto number = [&](int64_t v) { return b.getInt64(static_cast<uint64_t>(v)); };
  Value* base = wide(i.base);
  Value* limit = wide(bound.base);
  Value* low = b.CreateAdd(base, number(*least));
  Value* high = b.CreateAdd(base, number(*most));
  Value* no_overflow =
      *most > 0 ? b.CreateICmpSLE(high, number(is_signed ? INT32_MAX : UINT32_MAX)) : b.getTrue();
  Value* no_underflow =
      *least < 0 ? b.CreateICmpSGE(low, number(is_signed ? INT32_MIN : 0)) : b.getTrue();
  // Below a limit nothing overflows, above one nothing underflows.
  Value* above = below == equal ? b.CreateICmpSGT(low, limit) : b.CreateICmpSGE(low, limit);
  Value* under = below == equal ? b.CreateICmpSLE(high, limit) : b.CreateICmpSLT(high, limit);
  above = b.CreateAnd(above, no_overflow);
  under = b.CreateAnd(under, no_underflow);
  all = below ? under : above;
  none = below ? above : under;
  return true;
}

}  // namespace

void Lowering::emit_whole_node(NodeId id) {
  node_ = id;
  b_.SetInsertPoint(whole_heads_[id]);
  as_whole([&] { emit_body(id); });
  node_ = no_node;
}

void Lowering::as_whole(const std::function<void()>& emit) {
  const bool full = full_, live_full = live_full_;
  full_ = live_full_ = true;
  emit();
  full_ = full;
  live_full_ = live_full;
}

/// Code of the masked version from the end of node `id` on, where all lanes are.
void Lowering::as_part(NodeId id, const std::function<void()>& emit) {
  const bool full = full_, live_full = live_full_;
  Value* mask = node_mask_;
  full_ = false;
  live_full_ = none_left_.has(id);
  node_mask_ = rp_->masked.has(id) ? ConstantInt::getTrue(vec_type(int_type(1))) : nullptr;
  emit();
  full_ = full;
  live_full_ = live_full;
  node_mask_ = mask;
}

Lowering::Agreement Lowering::both(IRBuilder<>& b, const Agreement& x, const Agreement& y,
                                   bool is_and) {
  return is_and ? Agreement{b.CreateAnd(x.all, y.all), b.CreateOr(x.none, y.none)}
                : Agreement{b.CreateOr(x.all, y.all), b.CreateAnd(x.none, y.none)};
}

/// Of whether number `r` as instruction `before` of the node finds it is negative, asked at the
/// node's end: lanes' places, and what `and` and `or` make of them.
std::optional<Lowering::Agreement> Lowering::sign_agreement(const Node& node, ptx::Index r,
                                                            uint32_t before, int depth) {
  constexpr int most_depth = 8;
  std::vector<ptx::Index> uses, defs;
  const Inst* write = nullptr;
  const bool place = plan_.shapes[r].shaped();
  for (uint32_t i = node.end; i-- > (place ? before : node.begin);) {
    uses_and_defs(plan_.graph, plan_.graph.inst(node, i), uses, defs);
    if (std::find(defs.begin(), defs.end(), r) == defs.end()) continue;
    if (i >= before) return std::nullopt;  // it changes before it is asked
    write = &plan_.graph.inst(node, i);
    before = i;
    break;
  }
  if (place) {
    const Val v = read_reg(r);
    if (!v.shaped() || v.correction || !v.base->getType()->isIntegerTy(32)) return std::nullopt;
    auto number = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
    Value* base = b_.CreateSExt(v.base, b_.getInt64Ty());
    int64_t least = 0, most = 0;
    if (!v.offsets.empty()) {
      const auto [low, high] = std::minmax_element(v.offsets.begin(), v.offsets.end());
      least = *low, most = *high;
    }
    Value* low = b_.CreateAdd(base, number(least));
    Value* high = b_.CreateAdd(base, number(most));
    Value* exact = b_.CreateAnd(b_.CreateICmpSGE(low, number(INT32_MIN)),
                                b_.CreateICmpSLE(high, number(INT32_MAX)));
    return Agreement{b_.CreateAnd(exact, b_.CreateICmpSLT(high, number(0))),
                     b_.CreateAnd(exact, b_.CreateICmpSGE(low, number(0)))};
  }
  if (!write || (write->op != Op::and_ && write->op != Op::or_) || write->guard != ptx::no_index ||
      depth > most_depth)
    return std::nullopt;
  if (write->ops[1].kind != Operand::Kind::reg || write->ops[2].kind != Operand::Kind::reg)
    return std::nullopt;
  const auto x = sign_agreement(node, write->ops[1].index, before, depth + 1);
  const auto y = sign_agreement(node, write->ops[2].index, before, depth + 1);
  if (!x || !y) return std::nullopt;
  return both(b_, *x, *y, write->op == Op::and_);
}

/// Of predicate `p` as instruction `before` of the node finds it, asked at the node's end:
/// comparisons of the lanes' places, and what `and`, `or` and `not` make of them.
std::optional<Lowering::Agreement> Lowering::agreement(const Node& node, ptx::Index p,
                                                       uint32_t before, int depth) {
  const auto written_after = [&](ptx::Index r, uint32_t i) {
    std::vector<ptx::Index> uses, defs;
    for (++i; i < node.end; ++i) {
      uses_and_defs(plan_.graph, plan_.graph.inst(node, i), uses, defs);
      if (std::find(defs.begin(), defs.end(), r) != defs.end()) return true;
    }
    return false;
  };
  const auto opposite = [&](Value* v) { return b_.CreateNot(v); };
  if (!plan_.shapes[p].varying()) {
    if (before < node.end && written_after(p, before)) return std::nullopt;
    const Val g = read_reg(p);
    if (!g.uniform()) return std::nullopt;
    return Agreement{g.base, opposite(g.base)};
  }
  constexpr int most_depth = 8;
  std::vector<ptx::Index> uses, defs;
  uint32_t at = before;
  const Inst* write = nullptr;
  if (depth > most_depth) return std::nullopt;
  while (!write) {
    if (at == node.begin) {
      if (!plan_.constants.has(p)) return std::nullopt;
      write = plan_.constants.write[p];  // in another node, but what it reads never changes either
      at = node.end;
      break;
    }
    uses_and_defs(plan_.graph, plan_.graph.inst(node, --at), uses, defs);
    if (std::find(defs.begin(), defs.end(), p) != defs.end()) write = &plan_.graph.inst(node, at);
  }
  const Inst& inst = *write;
  uses_and_defs(plan_.graph, inst, uses, defs);
  if (inst.guard != ptx::no_index || inst.ops[0].kind != ptx::Operand::Kind::reg)
    return std::nullopt;
  const auto operand = [&](size_t k) -> std::optional<Agreement> {
    const ptx::Operand& o = inst.ops[k];
    if (o.kind != ptx::Operand::Kind::reg) return std::nullopt;
    auto found = agreement(node, o.index, at, depth + 1);
    if (found && o.negated) std::swap(found->all, found->none);
    return found;
  };
  switch (inst.op) {
    case Op::setp: {
      const ptx::Type t = inst.type();
      if (ptx::is_float(t) || inst.ops.size() > 4 || inst.has(Tok::xor_)) return std::nullopt;
      Agreement found{};
      if (tests_sign(inst) && inst.ops[1].kind == Operand::Kind::reg &&
          plan_.shapes[inst.ops[1].index].varying()) {
        const auto negative = sign_agreement(node, inst.ops[1].index, at, depth + 1);
        if (!negative) return std::nullopt;
        found = *negative;
        if (inst.has(Tok::ge)) std::swap(found.all, found.none);
      } else {
        for (ptx::Index u : uses)
          if (written_after(u, at)) return std::nullopt;
        if (!compare_outermost(b_, inst, read(inst.ops[1], t), read(inst.ops[2], t), found.all,
                               found.none))
          return std::nullopt;
      }
      if (inst.ops.size() == 3) return found;
      const auto more = operand(3);
      if (!more) return std::nullopt;
      return both(b_, found, *more, inst.has(Tok::and_));
    }
    case Op::and_:
    case Op::or_: {
      const auto a = operand(1), c = operand(2);
      if (!a || !c) return std::nullopt;
      return both(b_, *a, *c, inst.op == Op::and_);
    }
    case Op::not_: {
      const auto a = operand(1);
      if (!a) return std::nullopt;
      return Agreement{a->none, a->all};
    }
    default:
      return std::nullopt;
  }
}

/// Branches to `taken` or `other` where all lanes agree on `g`, else goes on under masks. Whether
/// they agree is not asked for the sake of a way that goes on under masks anyhow: where lanes part
/// by their data the answer cannot be foreseen (spmv_csr).
void Lowering::part_or_branch(NodeId id, const Inst& inst, const Val& g, BasicBlock* taken,
                              BasicBlock* other, bool taken_unmasked, bool other_unmasked) {
  if (g.uniform()) {
    b_.CreateCondBr(g.base, taken, other);
    return;
  }
  // Likely, so that the whole version is laid out straight on: blackscholes.
  auto try_way = [&](bool unmasked, Value* agreed, BasicBlock* to) {
    if (!unmasked) return;
    BasicBlock* open = BasicBlock::Create(llvm_, "not.all", out_);
    b_.CreateCondBr(agreed, to, open, MDBuilder(llvm_).createBranchWeights(16, 1));
    b_.SetInsertPoint(open);
  };
  const Node& node = plan_.graph.nodes[id];
  if (auto scalar = agreement(node, inst.guard, node.end - 1, 0)) {
    if (inst.guard_negated != node.inverted) std::swap(scalar->all, scalar->none);
    try_way(taken_unmasked, scalar->all, taken);
    try_way(other_unmasked, scalar->none, other);
  }
  Value* lanes = vec(g);
  try_way(taken_unmasked, all(lanes), taken);
  try_way(other_unmasked, b_.CreateNot(any(lanes)), other);
  as_part(id, [&] {
    if (plan_.graph.nodes[id].leave == Leave::cond_ret)
      leave_some(id, g);
    else
      part_lanes(id, g);
  });
}

/// To `to` from where all live lanes have met: whole again if none has left.
void Lowering::rejoin(NodeId to) {
  if (!full_ && whole_.has(to) && !rp_->masked.has(to)) branch_if_whole(to);
  jump(to);
}

void Lowering::branch_if_whole(NodeId to) {
  BasicBlock* part = BasicBlock::Create(llvm_, "part", out_);
  Value* live = live_full_ ? static_cast<Value*>(ConstantInt::getTrue(vec_type(int_type(1))))
                           : b_.CreateLoad(live_->getAllocatedType(), live_);
  b_.CreateCondBr(all(live), whole_heads_[to], part, MDBuilder(llvm_).createBranchWeights(16, 1));
  b_.SetInsertPoint(part);
}

/// The way to a loop's header in whole form, from where all lanes are in its mask.
BasicBlock* Lowering::unmask_header(NodeId header) {
  BasicBlock* here = b_.GetInsertBlock();
  BasicBlock* block = BasicBlock::Create(llvm_, "together", out_);
  b_.SetInsertPoint(block);
  b_.CreateStore(Constant::getNullValue(vec_type(int_type(1))), masks_[header]);
  b_.CreateBr(whole_heads_[header]);
  b_.SetInsertPoint(here);
  return block;
}

}  // namespace limen::simt
