// Matrix instructions of a warp: operands to fragments in memory, the call of the form's function
// (matrix.h), the result back to registers. With a warp as one vector a fragment's register is one
// vector store; under the lane strategy every lane hands its registers to Runtime::exchange and
// computes from what all handed in. Rule: all live lanes are here together (they are `.aligned`).
#include "compiler/simt/matrix.h"

namespace limen::simt {

using namespace llvm;
using kernel::Exchange;
using kernel::Runtime;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;
using PType = ptx::Type;

namespace {
constexpr uint32_t fragment_bytes = 2048;  // the largest: 8 registers of 32 f64
uint32_t word_bytes(PType t) { return t == PType::f64 ? 8 : 4; }
}  // namespace

/// Memory for fragments, shared by all matrix instructions of the function.
Value* Lowering::matrix_words(MatrixWords which) {
  AllocaInst*& a = matrix_words_[static_cast<size_t>(which)];
  if (!a) {
    a = entry_alloca(ArrayType::get(b_.getInt8Ty(), fragment_bytes), "fragment", false);
    a->setAlignment(Align(64));
  }
  return a;
}

/// All live lanes execute the instruction. Under the lane strategy they wait for each other.
void Lowering::meet_aligned(const Inst& inst) {
  if (scalar_mode()) {
    exchange(inst, b_.getInt32(~0u), b_.getInt32(0));
    return;
  }
  Operand everyone;
  everyone.kind = Operand::Kind::imm;
  everyone.bits = -1;
  check_member(inst, everyone);
}

void Lowering::store_words(const Inst& inst, Value* to, const Operand& o, PType t) {
  const uint32_t size = word_bytes(t);
  Val v = size == 8 ? read(o, PType::b64) : read(o, PType::b32);
  if (!scalar_mode()) {
    b_.CreateAlignedStore(vec(v), to, Align(64));
    return;
  }
  Value* e = exchange(inst, b_.getInt32(~0u), v.base);
  Value* values = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), e, offsetof(Exchange, values));
  b_.CreateCall(spread_function(unit_, size), {to, values});
}

Value* Lowering::store_fragment(const Inst& inst, MatrixWords which, const Operand& o, PType t) {
  Value* words = matrix_words(which);
  const auto all = o.kind == Operand::Kind::vector ? o.elems : std::vector<Operand>{o};
  for (size_t i = 0; i < all.size(); ++i)
    store_words(inst, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), words, i * 32 * word_bytes(t)),
                all[i], t);
  return words;
}

void Lowering::load_fragment(Value* words, const Operand& o, PType t) {
  const auto all = o.kind == Operand::Kind::vector ? o.elems : std::vector<Operand>{o};
  const bool wide = word_bytes(t) == 8;
  llvm::Type* word = wide ? b_.getInt64Ty() : b_.getInt32Ty();
  Value* lane = scalar_mode() ? b_.CreateAnd(thread_linear_base(), 31) : nullptr;
  for (size_t i = 0; i < all.size(); ++i) {
    Value* from = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), words, i * 32 * word_bytes(t));
    const PType as = wide ? PType::b64 : PType::b32;
    if (scalar_mode())
      write(all[i], Val::scalar(load_lane(from, word, lane)), as);
    else
      write(all[i], Val::vector(b_.CreateAlignedLoad(vec_type(word), from, Align(64))), as);
  }
}

/// What the instruction asks all lanes to agree on: the first active lane's value.
Value* Lowering::agreed(const Val& v) {
  if (v.uniform()) return v.base;
  Value* first =
      b_.CreateIntrinsic(Intrinsic::cttz, {b_.getInt32Ty()}, {bits(active()), b_.getFalse()});
  return b_.CreateExtractElement(vec(v), first);
}

void Lowering::lower_mma(const Inst& inst) {
  MatrixForm form;
  if (std::string why = describe(inst, form); !why.empty()) return fail(inst, why);
  if (!scalar_mode()) meet_aligned(inst);
  Value* a = store_fragment(inst, MatrixWords::a, inst.ops[1], form.a);
  Value* b = store_fragment(inst, MatrixWords::b, inst.ops[2], form.b);
  Value* c = store_fragment(inst, MatrixWords::c, inst.ops[3], form.c);
  Value* none = ConstantPointerNull::get(b_.getPtrTy());
  Value* e = form.sparse ? store_fragment(inst, MatrixWords::e, inst.ops[4], PType::b32) : none;
  Value* rounded = form.rounding ? runtime(offsetof(Runtime, rounded_f64)) : none;
  Value* d = matrix_words(MatrixWords::d);
  b_.CreateCall(multiply_function(unit_, form), {d, a, b, c, e, rounded});
  load_fragment(d, inst.ops[0], form.d);
}

void Lowering::lower_wmma_memory(const Inst& inst) {
  FragmentForm form;
  if (std::string why = describe(inst, form); !why.empty()) return fail(inst, why);
  const Operand& fragment = inst.ops[form.store ? 1 : 0];
  Value* at = agreed(address(inst, inst.ops[form.store ? 0 : 1]).at);
  Value* stride = inst.ops.size() > 2
                      ? b_.CreateZExt(agreed(read(inst.ops[2], PType::u32)), b_.getInt64Ty())
                      : b_.getInt64(form.across ? form.rows : form.columns);
  meet_aligned(inst);
  Value* words = form.store ? store_fragment(inst, MatrixWords::d, fragment, form.type)
                            : matrix_words(MatrixWords::d);
  b_.CreateCall(fragment_function(unit_, form), {words, at, stride});
  // No lane may go on and change or read the matrix before all have done their part.
  if (scalar_mode()) meet_aligned(inst);
  if (!form.store) load_fragment(words, fragment, form.type);
}

/// ldmatrix and stmatrix: lane 8m + r holds the address of row r of matrix m.
void Lowering::lower_matrix_rows(const Inst& inst) {
  const bool store = inst.op == Op::stmatrix;
  const Operand& fragment = inst.ops[store ? 1 : 0];
  const auto matrices = static_cast<uint32_t>(fragment.elems.size());
  Val at = address(inst, inst.ops[store ? 0 : 1]).at;
  if (!scalar_mode()) meet_aligned(inst);
  Value* lanes = scalar_mode() ? at.base : vec(at);
  Value* bad = b_.CreateICmpNE(b_.CreateAnd(lanes, 15), Constant::getNullValue(lanes->getType()));
  if (scalar_mode()) {
    Value* lane = b_.CreateAnd(thread_linear_base(), 31);
    bad = b_.CreateAnd(bad, b_.CreateICmpULT(lane, b_.getInt32(8 * matrices)));
  } else {
    bad = b_.CreateAnd(b_.CreateAnd(bad, active()),
                       b_.CreateICmpULT(lane_ids(), splat(b_.getInt32(8 * matrices))));
  }
  fault_if(bad, kernel::Fault::misaligned_address, inst.line, lanes);
  Value* rows = matrix_words(MatrixWords::a);
  if (scalar_mode()) {
    Value* e = exchange(inst, b_.getInt32(~0u), lanes);
    Value* values = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), e, offsetof(Exchange, values));
    b_.CreateCall(spread_function(unit_, 8), {rows, values});
  } else {
    b_.CreateAlignedStore(lanes, rows, Align(64));
  }
  Value* words = store ? store_fragment(inst, MatrixWords::d, fragment, PType::b32)
                       : matrix_words(MatrixWords::d);
  b_.CreateCall(rows_function(unit_, matrices, inst.has(Tok::trans), store), {words, rows});
  if (scalar_mode()) meet_aligned(inst);
  if (!store) load_fragment(words, fragment, PType::b32);
}

bool Lowering::lower_matrix(const Inst& inst) {
  switch (inst.op) {
    case Op::mma:
    case Op::wmma:
    case Op::ldmatrix:
    case Op::stmatrix:
    case Op::movmatrix:
      break;
    default:
      return false;
  }
  if (!scalar_mode() && width() != 32)
    return fail(inst, "internal: matrix operation in a narrow vector"), true;
  if (inst.op == Op::mma || (inst.op == Op::wmma && inst.has(Tok::mma))) {
    lower_mma(inst);
  } else if (inst.op == Op::wmma) {
    lower_wmma_memory(inst);
  } else if (inst.op == Op::movmatrix) {
    if (!scalar_mode()) meet_aligned(inst);
    Value* from = store_fragment(inst, MatrixWords::a, inst.ops[1], PType::b32);
    Value* to = matrix_words(MatrixWords::d);
    b_.CreateCall(transpose_function(unit_), {to, from});
    load_fragment(to, inst.ops[0], PType::b32);
  } else {
    lower_matrix_rows(inst);
  }
  return true;
}

}  // namespace limen::simt
