// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and tensormap. One active lane's
// instruction after the other is handed to Runtime::tensor, which reads the map and moves the box;
// like all asynchronous copies it is done when it is issued, and then the mbarrier is told its
// bytes. Prefetches are hints and do nothing. Forms for `a` targets only are `later` in
// spec/ptx/memory.toml.
#include "compiler/simt/lower.h"
#include "devlib/tensor_replacement.h"

#include <bit>

namespace limen::simt {

using namespace llvm;
using kernel::TensorDirection;
using kernel::TensorField;
using kernel::TensorMode;
using kernel::TensorOp;
using kernel::TensorReduction;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::Tok;
using PType = ptx::Type;

namespace {

TensorOp tensor_op(const ptx::Instruction& inst) {
  static constexpr std::pair<Tok, TensorReduction> reductions[] = {
      {Tok::add, TensorReduction::add}, {Tok::min, TensorReduction::min},
      {Tok::max, TensorReduction::max}, {Tok::inc, TensorReduction::inc},
      {Tok::dec, TensorReduction::dec}, {Tok::and_, TensorReduction::and_},
      {Tok::or_, TensorReduction::or_}, {Tok::xor_, TensorReduction::xor_}};
  static constexpr std::pair<Tok, uint8_t> ranks[] = {
      {Tok::_1d, 1}, {Tok::_2d, 2}, {Tok::_3d, 3}, {Tok::_4d, 4}, {Tok::_5d, 5}};
  TensorOp op{};
  op.direction = inst.has(Tok::reduce)       ? TensorDirection::reduce
                 : inst.has(Tok::bulk_group) ? TensorDirection::store
                                             : TensorDirection::load;
  op.mode = inst.has(Tok::tile__gather4)                             ? TensorMode::gather4
            : inst.has(Tok::im2col__w)                               ? TensorMode::im2col_w
            : inst.has(Tok::im2col) || inst.has(Tok::im2col_no_offs) ? TensorMode::im2col
                                                                     : TensorMode::tile;
  for (const auto& [tok, reduction] : reductions)
    if (op.direction == TensorDirection::reduce && inst.has(tok)) op.reduction = reduction;
  for (const auto& [tok, rank] : ranks)
    if (inst.has(tok)) op.rank = rank;
  op.line = inst.line;
  return op;
}

kernel::TensorReplacement tensor_replacement(const ptx::Instruction& inst) {
  static constexpr std::pair<Tok, TensorField> fields[] = {
      {Tok::global_address, TensorField::global_address},
      {Tok::rank, TensorField::rank},
      {Tok::box_dim, TensorField::box_dim},
      {Tok::global_dim, TensorField::global_dim},
      {Tok::global_stride, TensorField::global_stride},
      {Tok::element_stride, TensorField::element_stride},
      {Tok::elemtype, TensorField::elemtype},
      {Tok::interleave_layout, TensorField::interleave_layout},
      {Tok::swizzle_mode, TensorField::swizzle_mode},
      {Tok::swizzle_atomicity, TensorField::swizzle_atomicity},
      {Tok::fill_mode, TensorField::fill_mode}};
  kernel::TensorReplacement op;
  for (const auto& [tok, field] : fields)
    if (inst.has(tok)) op.field = field;
  if (inst.ops.size() == 3) op.dimension = static_cast<uint8_t>(inst.ops[1].bits);
  op.line = inst.line;
  return op;
}

}  // namespace

void Lowering::lower_tensor(const Inst& inst) {
  if (inst.has(Tok::prefetch)) return;
  llvm::Type *i16 = b_.getInt16Ty(), *i32 = b_.getInt32Ty(), *i64 = b_.getInt64Ty();
  const TensorOp op = tensor_op(inst);
  const bool loads = op.direction == TensorDirection::load;
  const bool many = inst.has(Tok::multicast__cluster);
  const Operand& tensor = inst.ops[loads ? 1 : 0];
  Val map = address_in(Space::none, tensor);
  Val shared = address_in(Space::shared, inst.ops[loads ? 0 : 1]);
  Val barrier = loads ? address_in(Space::shared, inst.ops[2]) : Val::scalar(b_.getInt64(0));
  if (loads) check_alignment(inst, barrier, 8);
  struct Word {
    size_t at;
    Value* lanes;
    llvm::Type* type;
  };
  std::vector<Word> words;
  const std::vector<Operand>& coordinates = tensor.elems.back().elems;
  for (size_t i = 0; i < coordinates.size(); ++i)
    words.push_back({i, spill(read(coordinates[i], PType::s32), i32), i32});
  size_t next = 3;
  if (loads && op.mode >= TensorMode::im2col) {
    const std::vector<Operand>& info = inst.ops[next++].elems;
    for (size_t i = 0; i < info.size(); ++i)
      words.push_back(
          {kernel::tensor_coordinate_words + i, spill(read(info[i], PType::b16), i16), i16});
  }
  Value* masks = many ? spill(read(inst.ops[next], PType::b16), i16) : nullptr;
  Value* maps = spill(map, i64);
  Value* shareds = spill(shared, i64);
  Value* barriers = spill(barrier, i64);
  if (!tensor_words_)
    tensor_words_ = entry_alloca(ArrayType::get(i32, kernel::tensor_words), "tensor");
  uint64_t packed;
  static_assert(sizeof packed == sizeof op);
  std::memcpy(&packed, &op, sizeof packed);
  auto* ft = FunctionType::get(i64, {b_.getPtrTy(), i64, i32, i64, i64, b_.getPtrTy()}, false);
  compiler_barrier();
  for_each_lane(active(), [&](Value* lane) {
    for (const Word& w : words)
      b_.CreateStore(b_.CreateZExt(load_lane(w.lanes, w.type, lane), i32),
                     b_.CreateConstInBoundsGEP1_64(i32, tensor_words_, w.at));
    Value* m = load_lane(maps, i64, lane);
    Value* s = load_lane(shareds, i64, lane);
    Value* told = load_lane(barriers, i64, lane);
    auto copy = [&](Value* place, Value* place_told) {
      Value* bytes =
          b_.CreateCall(ft, runtime(offsetof(kernel::Runtime, tensor)),
                        {ctx_, b_.getInt64(packed), b_.CreateAdd(thread_linear_base(), lane), m,
                         place, tensor_words_});
      if (loads)
        update_mbarrier(pointer(place_told), b_.getInt64(0), b_.getInt64(0), b_.CreateNeg(bytes));
    };
    if (!many) return copy(s, told);
    for_each_block(b_.CreateZExt(load_lane(masks, i16, lane), i64),
                   [&](const std::function<Value*(Value*)>& same) { copy(same(s), same(told)); });
  });
  compiler_barrier();
}

/// tensormap.cp_fenceproxy: the 128 bytes of a tensor map from shared to global memory, then
/// visible to tensor instructions. tensormap.replace: one field of each active lane's map; what a
/// map holds is the engine's affair.
void Lowering::lower_tensormap(const Inst& inst) {
  constexpr uint64_t map_bytes = 128;
  const bool replaces = inst.has(Tok::replace);
  const bool wide = inst.has(Tok::global_address) || inst.has(Tok::global_stride);
  const Space space = inst.has(Tok::shared__cta) ? Space::shared
                      : inst.has(Tok::global)    ? Space::global
                                                 : Space::none;
  llvm::Type *i32 = b_.getInt32Ty(), *i64 = b_.getInt64Ty();
  llvm::Type* type = wide || !replaces ? i64 : i32;
  Val to = address_in(replaces ? space : Space::global, inst.ops[0]);
  Val from = replaces ? read(inst.ops.back(), wide ? PType::b64 : PType::b32)
                      : address_in(Space::shared, inst.ops[1]);
  if (!replaces) {
    check_alignment(inst, to, 16);
    check_alignment(inst, from, 16);
  }
  Value* tos = spill(to, i64);
  Value* froms = spill(from, type);
  if (replaces && !tensor_words_)
    tensor_words_ = entry_alloca(ArrayType::get(i32, kernel::tensor_words), "tensor");
  const uint64_t packed = std::bit_cast<uint64_t>(tensor_replacement(inst));
  auto* ft = FunctionType::get(i64, {b_.getPtrTy(), i64, i32, i64, i64, b_.getPtrTy()}, false);
  compiler_barrier();
  for_each_lane(active(), [&](Value* lane) {
    Value* at = load_lane(tos, i64, lane);
    Value* what = load_lane(froms, type, lane);
    if (!replaces) {
      b_.CreateMemCpy(pointer(at), Align(16), pointer(what), Align(16), map_bytes);
      return;
    }
    b_.CreateStore(b_.CreateZExt(what, i64), tensor_words_);
    b_.CreateCall(ft, runtime(offsetof(kernel::Runtime, tensor)),
                  {ctx_, b_.getInt64(packed), b_.CreateAdd(thread_linear_base(), lane), at,
                   b_.getInt64(0), tensor_words_});
  });
  if (!replaces) b_.CreateFence(AtomicOrdering::SequentiallyConsistent);
  compiler_barrier();
}

}  // namespace limen::simt
