// clusterlaunchcontrol: a block takes a cluster of its grid that has not begun, to do its work
// itself. The answer is there when the instruction is over, which PTX allows; then its 16 bytes are
// told to the mbarrier. The response, opaque in PTX, is the word of Runtime::try_cancel and a zero
// word.
#include "compiler/ptx/table.h"
#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;
using kernel::Runtime;
using ptx::Operand;
using ptx::Tok;
using PType = ptx::Type;

namespace {

constexpr int64_t response_bytes = 16;
constexpr unsigned canceled_at = 63;
// The first block's x, y and z.
constexpr unsigned field_at[3] = {0, 31, 47}, field_bits[3] = {31, 16, 16};

}  // namespace

void Lowering::lower_try_cancel(const Inst& inst) {
  llvm::Type* i64 = b_.getInt64Ty();
  Val to = address(inst, inst.ops[0]).at, barrier = address(inst, inst.ops[1]).at;
  check_alignment(inst, to, response_bytes);
  check_alignment(inst, barrier, 8);
  Value* tos = spill(to, i64);
  Value* barriers = spill(barrier, i64);
  auto* ft = FunctionType::get(i64, {b_.getPtrTy()}, false);
  compiler_barrier();
  for_each_lane(active(), [&](Value* lane) {
    Value* word = b_.CreateCall(ft, runtime(offsetof(Runtime, try_cancel)), {ctx_});
    Value* p = pointer(load_lane(tos, i64, lane));
    b_.CreateStore(word, p);
    b_.CreateStore(b_.getInt64(0), b_.CreateConstInBoundsGEP1_64(i64, p, 1));
    update_mbarrier(pointer(load_lane(barriers, i64, lane)), b_.getInt64(0), b_.getInt64(0),
                    ConstantInt::get(i64, static_cast<uint64_t>(-response_bytes), true));
  });
  compiler_barrier();
}

void Lowering::lower_query_cancel(const Inst& inst) {
  Val word = fit(read(inst.ops[1], PType::b128), b_.getInt64Ty());
  auto part = [&](unsigned shift, uint64_t mask, unsigned width_bits) {
    return map({word}, [&](const std::vector<Value*>& v) {
      llvm::Type* t = b_.getIntNTy(width_bits);
      if (v[0]->getType()->isVectorTy()) t = vec_type(t);
      return b_.CreateTrunc(b_.CreateAnd(b_.CreateLShr(v[0], shift), mask), t);
    });
  };
  if (inst.has(Tok::is_canceled)) return write(inst.ops[0], part(canceled_at, 1, 1), PType::pred);
  auto coordinate = [&](unsigned i) {
    return part(field_at[i], (uint64_t{1} << field_bits[i]) - 1, 32);
  };
  if (inst.has(Tok::get_first_ctaid)) {
    for (unsigned i = 0; i < 4; ++i)
      write(inst.ops[0].elems[i], i < 3 ? coordinate(i) : Val::scalar(b_.getInt32(0)), PType::b32);
    return;
  }
  const unsigned i = inst.has(Tok::get_first_ctaid__x)   ? 0
                     : inst.has(Tok::get_first_ctaid__y) ? 1
                                                         : 2;
  write(inst.ops[0], coordinate(i), PType::b32);
}

void Lowering::lower_clusterlaunchcontrol(const Inst& inst) {
  if (inst.has(Tok::try_cancel)) return lower_try_cancel(inst);
  lower_query_cancel(inst);
}

}  // namespace limen::simt
