// What is known of a load's addresses beyond its own instruction: 32-bit indices behind a base, by
// which AVX2 gathers, and where it will read in a loop's next round behind a barrier, which it asks
// for ahead. Looks through the PTX of the node; whatever it cannot tell is left to
// lower_memory.cpp.
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;
using ptx::Index;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;

/// What a varying 64-bit address was made of, if in this node: `add(base, mul.wide(index, scale))`,
/// or with a shift or a widening alone. AVX2's gathers take 32-bit indices.
void Lowering::find_index(Index address, int64_t offset, Val& at) {
  if (unit_.target.avx512 || !unit_.target.avx2 || scalar_mode() || node_ == no_node || at.shaped())
    return;
  const Node& node = plan_.graph.nodes[node_];
  std::vector<Index> uses, defs;
  uint32_t place = position_;
  const auto write_of = [&](Index r) -> const Inst* {
    while (place > node.begin) {
      const Inst& inst = plan_.graph.inst(node, --place);
      uses_and_defs(plan_.graph, inst, uses, defs);
      if (std::find(defs.begin(), defs.end(), r) == defs.end()) continue;
      const bool plain = inst.guard == ptx::no_index && inst.ops[0].kind == Operand::Kind::reg;
      return plain ? &inst : nullptr;
    }
    return nullptr;
  };
  const auto is_reg = [&](const Operand& o, unsigned n) {
    return o.kind == Operand::Kind::reg && !o.negated && register_type(o.index)->isIntegerTy(n);
  };
  const auto constant = [&](const Operand& o) {
    return o.kind == Operand::Kind::imm && !o.imm_is_float ? o.bits : -1;
  };
  const auto is_wide = [&](const Inst& i, Op op) {
    return i.op == op && !i.has(Tok::cc) && ptx::is_int(i.type()) && bits_of(i.type()) == 64;
  };
  // The sum.
  const Inst* sum = write_of(address);
  if (!sum || !is_wide(*sum, Op::add) || !is_reg(sum->ops[1], 64) || !is_reg(sum->ops[2], 64))
    return;
  const uint32_t sum_place = place;
  Index base = sum->ops[1].index, product = sum->ops[2].index;
  if (!plan_.shapes[base].uniform()) std::swap(base, product);
  if (!plan_.shapes[base].uniform() || plan_.shapes[base].guarded ||
      !plan_.shapes[product].varying())
    return;
  // The product.
  const Inst* by = write_of(product);
  if (!by) return;
  int64_t scale = 1;
  if (is_wide(*by, Op::shl) && is_reg(by->ops[1], 64) && constant(by->ops[2]) >= 0 &&
      constant(by->ops[2]) <= 3) {
    scale = int64_t{1} << constant(by->ops[2]);
    by = write_of(by->ops[1].index);
    if (!by) return;
  }
  const bool multiplies = scale == 1 && by->op == Op::mul && by->has(Tok::wide) &&
                          ptx::is_int(by->type()) && bits_of(by->type()) == 32;
  const bool widens = by->op == Op::cvt && !by->has(Tok::sat) && ptx::is_int(by->type(0)) &&
                      ptx::is_int(by->type(1)) && bits_of(by->type(0)) == 64 &&
                      bits_of(by->type(1)) == 32;
  if (!(multiplies || widens) || !is_reg(by->ops[1], 32)) return;
  if (multiplies) scale = constant(by->ops[2]);
  if (scale != 1 && scale != 2 && scale != 4 && scale != 8) return;
  const Index index = by->ops[1].index;
  if (plan_.nans.raw.has(index)) return;
  for (uint32_t i = place; i < position_; ++i) {
    uses_and_defs(plan_.graph, plan_.graph.inst(node, i), uses, defs);
    if (std::find(defs.begin(), defs.end(), index) != defs.end()) return;
    if (i > sum_place && std::find(defs.begin(), defs.end(), base) != defs.end()) return;
  }
  const Val numbers = read_reg(index);
  if (numbers.correction) return;
  at.index = vec(numbers);
  at.index_base = b_.CreateAdd(read_reg(base).base, b_.getInt64(static_cast<uint64_t>(offset)));
  at.index_scale = static_cast<uint8_t>(scale);
  at.index_signed = ptx::is_signed(by->type(multiplies ? 0 : 1));
}

/// Elements of 4 or 8 bytes, 8 or 4 at a time, by AVX2's instruction: lanes that are not active
/// read nothing.
Value* Lowering::gather_by_index(const Val& at, llvm::Type* t, uint64_t bytes) {
  const uint32_t step = bytes == 4 ? 8 : 4;
  Value* base = at.index_base;
  Value* index = at.index;
  if (!at.index_signed) {
    // The machine extends the sign: both are moved by 2^31 elements.
    index = b_.CreateXor(index, splat(b_.getInt32(0x80000000)));
    base = b_.CreateAdd(base, b_.getInt64(uint64_t{at.index_scale} << 31));
  }
  llvm::Type* element = bytes == 4 ? b_.getFloatTy() : b_.getDoubleTy();
  auto* part = FixedVectorType::get(element, step);
  Value* mask = b_.CreateSExt(active(), vec_type(int_type(static_cast<uint32_t>(bytes * 8))));
  Value* out = nullptr;
  for (uint32_t first = 0; first < width(); first += step) {
    std::vector<int> lanes;
    for (uint32_t i = 0; i < step; ++i) lanes.push_back(static_cast<int>(first + i));
    Value* got = b_.CreateIntrinsic(
        part,
        bytes == 4 ? Intrinsic::x86_avx2_gather_d_ps_256 : Intrinsic::x86_avx2_gather_d_pd_256,
        {Constant::getNullValue(part), pointer(base), b_.CreateShuffleVector(index, lanes),
         b_.CreateBitCast(b_.CreateShuffleVector(mask, lanes), part), b_.getInt8(at.index_scale)});
    if (!out) {
      out = got;
      continue;
    }
    // Behind what there is: both as wide as that and this will be.
    std::vector<int> both(first + step, -1), wide(first, -1);
    for (uint32_t i = 0; i < step && i < first; ++i) wide[i] = static_cast<int>(i);
    for (uint32_t i = 0; i < first + step; ++i) both[i] = static_cast<int>(i);
    out =
        b_.CreateShuffleVector(out, first == step ? got : b_.CreateShuffleVector(got, wide), both);
  }
  return b_.CreateBitCast(out, vec_type(t));
}

/// Does a way lead from the node through a barrier back to it?
bool Lowering::comes_again_behind_barrier(NodeId id) const {
  const Graph& g = plan_.graph;
  // By node: reached at all, and reached through a barrier.
  Bits reached(g.nodes.size()), behind(g.nodes.size());
  std::vector<std::pair<NodeId, bool>> open{{id, false}};
  while (!open.empty()) {
    const auto [n, through] = open.back();
    open.pop_back();
    const bool now = through || g.nodes[n].leave == Leave::barrier;
    for (NodeId s : g.nodes[n].succ) {
      Bits& seen = now ? behind : reached;
      if (seen.has(s)) continue;
      seen.add(s);
      open.push_back({s, now});
    }
  }
  return behind.has(id);
}

/// By how much an integer register, or the one that it is computed from in this node, grows from
/// one round of a loop to the next, as far as that is the same for all lanes; null where not known.
Value* Lowering::step_of(Index r, int depth) {
  const Graph& g = plan_.graph;
  if (depth > 4 || !plan_.shapes[r].shaped() || !register_type(r)->isIntegerTy()) return nullptr;
  // Its writes: one may add to it what never changes meanwhile.
  const Inst* grows = nullptr;
  const Inst* write = nullptr;
  uint32_t writes = 0;
  std::vector<Index> uses, defs;
  for (const Node& node : g.nodes)
    for (uint32_t i = node.begin; i < node.end; ++i) {
      const Inst& inst = g.inst(node, i);
      uses_and_defs(g, inst, uses, defs);
      if (std::find(defs.begin(), defs.end(), r) == defs.end()) continue;
      ++writes;
      const bool adds = inst.op == Op::add && inst.guard == ptx::no_index &&
                        inst.ops[1].kind == Operand::Kind::reg && inst.ops[1].index == r;
      if (adds && grows) return nullptr;
      (adds ? grows : write) = &inst;
    }
  const auto extended = [&](const Operand& o) -> Value* {
    const Val v = read_int(o, register_type(r)->getPrimitiveSizeInBits());
    return v.uniform() ? b_.CreateSExt(v.base, b_.getInt64Ty()) : nullptr;
  };
  if (grows) {
    const Operand& by = grows->ops[2];
    if (by.kind == Operand::Kind::imm) return extended(by);
    const bool fixed = by.kind == Operand::Kind::reg && plan_.constants.has(by.index);
    return fixed ? extended(by) : nullptr;
  }
  if (writes != 1 || write->guard != ptx::no_index) return nullptr;
  const auto of = [&](size_t i) -> Value* {
    const Operand& o = write->ops[i];
    if (o.kind == Operand::Kind::imm ||
        (o.kind == Operand::Kind::reg && plan_.constants.has(o.index)))
      return b_.getInt64(0);
    return o.kind == Operand::Kind::reg ? step_of(o.index, depth + 1) : nullptr;
  };
  switch (write->op) {
    case Op::add: {
      Value *a = of(1), *c = of(2);
      return a && c ? b_.CreateAdd(a, c) : nullptr;
    }
    case Op::cvt:
    case Op::mov:
      return of(1);
    case Op::mul:
    case Op::shl: {
      const Operand& by = write->ops[2];
      if (by.kind != Operand::Kind::imm || by.imm_is_float || write->has(Tok::hi)) return nullptr;
      Value* a = of(1);
      if (!a) return nullptr;
      const auto factor = static_cast<uint64_t>(by.bits);
      return b_.CreateMul(
          a, b_.getInt64(write->op == Op::mul ? factor : uint64_t{1} << (factor & 63)));
    }
    default:
      return nullptr;
  }
}

/// A read that comes again behind a barrier or in the next block, so far away that the machine does
/// not foresee it: asks for what it will read then (the next tile of a matrix: dgemm_tiled; the next
/// piece of a stencil's rows). Never faults.
void Lowering::prefetch_next(const Inst& inst, const Val& at, uint64_t bytes) {
  const Operand& o = inst.ops[1];
  const bool global = inst.has(Tok::global) && inst.guard == ptx::no_index;
  if (!global || node_ == no_node || scalar_mode() || !at.shaped() || at.uniform() ||
      o.symbol_kind != Operand::SymbolKind::none)
    return;
  const auto [least, most] = std::minmax_element(at.offsets.begin(), at.offsets.end());
  auto ask_for = [&](Value* address) {
    Value* p = pointer(address);
    b_.CreateIntrinsic(Intrinsic::prefetch, {p->getType()},
                       {p, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
  };
  // Blocks of short rows (a stencil's): the rows of one block lie far apart, each too short for the
  // machine to foresee that the next block, which lies beside it, goes on there.
  constexpr int64_t line = 64;
  constexpr uint64_t short_row = 256;
  const uint64_t row = unit_.launch.block[0] * bytes;
  const bool in_a_row = *most - *least == static_cast<int64_t>(bytes * (width() - 1));
  if (in_a_row && unit_.launch.block[1] * unit_.launch.block[2] > 1 && row <= short_row &&
      plan_.regions.size() == 1 && rp_->region.loop_of[node_] == no_node) {
    for (int64_t from = *least; from <= *most; from += line)
      ask_for(b_.CreateAdd(at.base, b_.getInt64(row + static_cast<uint64_t>(from))));
    return;
  }
  if (!comes_again_behind_barrier(node_)) return;
  constexpr int64_t most_lines = 4, foreseen = 1024;
  if (*most - *least + static_cast<int64_t>(bytes) > line * most_lines) return;
  Value* step = step_of(o.index, 0);
  if (!step) return;
  // The machine's own prefetchers follow smaller steps.
  if (auto* c = dyn_cast<ConstantInt>(step); c && std::abs(c->getSExtValue()) < foreseen) return;
  Value* next = b_.CreateAdd(at.base, step);
  for (int64_t from = *least;; from = std::min(from + line, *most)) {
    ask_for(b_.CreateAdd(next, b_.getInt64(static_cast<uint64_t>(from))));
    if (from == *most || from + line > *most + static_cast<int64_t>(bytes) - 1) break;
  }
}

}  // namespace limen::simt
