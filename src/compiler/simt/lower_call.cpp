// Calls: device functions (direct, indirect, recursive) and what a device provides: vprintf,
// malloc, free, __assertfail and the device runtime (devlib/device_runtime.h). Arguments travel
// through memory a lane: one element a lane for scalar parameters, lane-major bytes for arrays;
// inlining makes registers of them again.
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/simt/lower.h"
#include "devlib/device_runtime.h"

namespace limen::simt {

using namespace llvm;
using kernel::Runtime;
using ptx::Index;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::Tok;
using PType = ptx::Type;

Lowering::Storage Lowering::make_storage(uint64_t bytes, bool array, const Twine& name) {
  Storage s;
  s.bytes = bytes;
  s.lanes_apart = array;
  llvm::Type* t = array ? static_cast<llvm::Type*>(ArrayType::get(b_.getInt8Ty(), bytes * width()))
                        : ArrayType::get(int_type(static_cast<uint32_t>(bytes * 8)), width());
  AllocaInst* a = entry_alloca(t, name, false);
  a->setAlignment(Align(64));
  s.memory = a;
  return s;
}

Lowering::Storage& Lowering::storage_of(const Operand& o) {
  if (o.symbol_kind == Operand::SymbolKind::param) {
    // Return parameters follow the parameters in the body's numbering.
    if (o.index >= fn_.params.size()) return returns_[o.index - fn_.params.size()];
    return params_[o.index];
  }
  auto it = locals_.find(o.index);
  if (it != locals_.end()) return it->second;
  const ptx::Variable& v = fn_.locals[o.index];
  const bool array = !(v.bytes <= 8 && v.bytes == ptx::size_of(v.type));
  return locals_[o.index] = make_storage(v.bytes, array, v.name);
}

/// Address of each lane's bytes, for parameters whose address is taken or that are arrays.
Val Lowering::lane_bytes(const Storage& s) {
  Val v = Val::scalar(b_.CreatePtrToInt(s.memory, b_.getInt64Ty()));
  if (scalar_mode()) return v;
  Offsets o;
  for (uint32_t i = 0; i < width(); ++i) o.push_back(static_cast<int64_t>(i * s.bytes));
  // Written to varying registers only (shape_of_operand says so), hence a vector.
  return Val::vector(b_.CreateAdd(splat(v.base), offsets_vector(o, b_.getInt64Ty())));
}

Val Lowering::load_storage(const Storage& s, uint64_t offset, PType t) {
  llvm::Type* st = scalar_type(t);
  const uint64_t bytes = ptx::size_of(t);
  if (scalar_mode()) {
    Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), s.memory, offset);
    return Val::scalar(b_.CreateAlignedLoad(st, p, Align(1)));
  }
  if (!s.lanes_apart && offset == 0 && bytes == s.bytes)
    return Val::vector(b_.CreateAlignedLoad(vec_type(st), s.memory, Align(64)));
  Offsets o;
  for (uint32_t i = 0; i < width(); ++i) o.push_back(static_cast<int64_t>(i * s.bytes + offset));
  Value* r = PoisonValue::get(vec_type(st));
  for (uint32_t i = 0; i < width(); ++i) {
    Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), s.memory, static_cast<uint64_t>(o[i]));
    r = b_.CreateInsertElement(r, b_.CreateAlignedLoad(st, p, Align(1)), uint64_t{i});
  }
  return Val::vector(r);
}

void Lowering::store_storage(const Storage& s, uint64_t offset, const Val& v, PType t) {
  llvm::Type* st = scalar_type(t);
  const uint64_t bytes = ptx::size_of(t);
  if (scalar_mode()) {
    Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), s.memory, offset);
    b_.CreateAlignedStore(v.base, p, Align(1));
    return;
  }
  Value* lanes = vec(v);
  // Returned values are seen by the caller's other lanes' callers too: keep what inactive lanes
  // hold.
  const bool merge = node_mask_ || guard_mask_ || !live_full_;
  if (!s.lanes_apart && offset == 0 && bytes == s.bytes) {
    if (merge)
      lanes = b_.CreateSelect(active(), lanes,
                              b_.CreateAlignedLoad(lanes->getType(), s.memory, Align(64)));
    b_.CreateAlignedStore(lanes, s.memory, Align(64));
    return;
  }
  Value* mask = active();
  for (uint32_t i = 0; i < width(); ++i) {
    Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), s.memory, i * s.bytes + offset);
    Value* x = b_.CreateExtractElement(lanes, uint64_t{i});
    if (merge)
      x = b_.CreateSelect(b_.CreateExtractElement(mask, uint64_t{i}), x,
                          b_.CreateAlignedLoad(st, p, Align(1)));
    b_.CreateAlignedStore(x, p, Align(1));
  }
}

/// ld.param / st.param on call parameters and on a device function's own.
void Lowering::lower_param(const Inst& inst, bool store) {
  const Operand& a = inst.ops[store ? 0 : 1];
  const Operand& other = inst.ops[store ? 1 : 0];
  const PType t = inst.type();
  const uint64_t bytes = ptx::size_of(t);
  Storage* s = nullptr;
  if (a.symbol_kind == Operand::SymbolKind::param) {
    const bool is_return = a.index >= fn_.params.size();
    const size_t i = is_return ? a.index - fn_.params.size() : a.index;
    if (is_return && i >= returns_.size()) return fail(inst, "unknown parameter");
    s = is_return ? &returns_[i] : &params_[a.index];
  } else {
    s = &storage_of(a);
  }
  std::vector<const Operand*> parts;
  if (other.kind == Operand::Kind::vector)
    for (const Operand& e : other.elems) parts.push_back(&e);
  else
    parts.push_back(&other);
  if (a.bits < 0 || static_cast<uint64_t>(a.bits) + bytes * parts.size() > s->bytes)
    return fail(inst, "parameter access at byte " + std::to_string(a.bits) + " leaves its " +
                          std::to_string(s->bytes) + " bytes");
  for (size_t i = 0; i < parts.size(); ++i) {
    const uint64_t offset = static_cast<uint64_t>(a.bits) + i * bytes;
    if (store) {
      store_storage(*s, offset, read(*parts[i], t), t);
      continue;
    }
    Val v = load_storage(*s, offset, t);
    if (parts[i]->kind == Operand::Kind::reg && ptx::is_signed(t)) {
      unsigned rb = register_type(parts[i]->index)->getPrimitiveSizeInBits();
      if (rb > bytes * 8)
        v = map({v}, [&](const std::vector<Value*>& x) {
          llvm::Type* wide = int_type(rb);
          return b_.CreateSExt(x[0], x[0]->getType()->isVectorTy() ? vec_type(wide) : wide);
        });
    }
    write(*parts[i], v, t);
  }
}

/// Functions the device itself provides. They act lane by lane.
bool Lowering::call_service(const Inst& inst, const ptx::Function& callee) {
  auto i32 = b_.getInt32Ty();
  auto i64 = b_.getInt64Ty();
  auto p = b_.getPtrTy();
  std::vector<Value*> args;
  std::vector<llvm::Type*> types;
  for (size_t i = 0; i < inst.call_args.size(); ++i) {
    const PType t = callee.params[i].type;
    Val v = inst.call_args[i].kind == Operand::Kind::symbol
                ? load_storage(storage_of(inst.call_args[i]), 0, t)
                : read(inst.call_args[i], t);
    types.push_back(scalar_type(t));
    args.push_back(spill(v, types.back()));
  }
  auto finish = [&](Value* array, llvm::Type* t, PType pt) {
    if (inst.call_returns.empty()) return;
    Val r = scalar_mode() ? Val::scalar(b_.CreateLoad(t, array))
                          : Val::vector(b_.CreateLoad(vec_type(t), array));
    if (inst.call_returns[0].kind == Operand::Kind::symbol)
      store_storage(storage_of(inst.call_returns[0]), 0, r, pt);
    else
      write(inst.call_returns[0], r, pt);
  };
  auto arg = [&](size_t i, Value* lane) { return load_lane(args[i], types[i], lane); };
  if (callee.name == "vprintf") {
    Value* out = spill(Val::scalar(b_.getInt32(0)), i32);
    auto* ft = FunctionType::get(i32, {p, i64, i64}, false);
    for_each_lane(active(), [&](Value* lane) {
      store_lane(out, i32, lane,
                 b_.CreateCall(ft, runtime(offsetof(Runtime, vprintf)),
                               {ctx_, arg(0, lane), arg(1, lane)}));
    });
    finish(out, i32, PType::b32);
    return true;
  }
  if (callee.name == "malloc") {
    Value* out = spill(Val::scalar(b_.getInt64(0)), i64);
    auto* ft = FunctionType::get(i64, {p, i64}, false);
    for_each_lane(active(), [&](Value* lane) {
      store_lane(out, i64, lane,
                 b_.CreateCall(ft, runtime(offsetof(Runtime, malloc)),
                               {ctx_, b_.CreateZExtOrTrunc(arg(0, lane), i64)}));
    });
    finish(out, i64, PType::b64);
    return true;
  }
  if (callee.name == "free") {
    auto* ft = FunctionType::get(b_.getVoidTy(), {p, i64}, false);
    for_each_lane(active(), [&](Value* lane) {
      b_.CreateCall(ft, runtime(offsetof(Runtime, free)), {ctx_, arg(0, lane)});
    });
    return true;
  }
  if (callee.name == "__assertfail") {
    auto* ft = FunctionType::get(b_.getVoidTy(), {p, i32, i64, i64, i32, i64, i64}, false);
    Value* base = thread_linear_base();
    for_each_lane(active(), [&](Value* lane) {
      b_.CreateCall(
          ft, runtime(offsetof(Runtime, assert_note)),
          {ctx_, scalar_mode() ? base : b_.CreateAdd(base, lane), arg(0, lane), arg(1, lane),
           b_.CreateZExtOrTrunc(arg(2, lane), i32), arg(3, lane), arg(4, lane)});
    });
    // Every failing lane has spoken; now the kernel ends.
    fault(kernel::Fault::assert_failed, inst.line, scalar_mode() ? nullptr : active(), nullptr);
    b_.SetInsertPoint(BasicBlock::Create(llvm_, "after.assert", out_));
    return true;
  }
  return false;
}

/// A function of the device runtime: every active lane hands its arguments over as 64-bit words.
void Lowering::call_device_runtime(const Inst& inst, const ptx::Function& callee,
                                   const kernel::DeviceFunction& function) {
  auto i32 = b_.getInt32Ty();
  auto i64 = b_.getInt64Ty();
  auto p = b_.getPtrTy();
  const size_t returns = function.return_bytes ? 1 : 0;
  bool fits = callee.params.size() == function.param_count && callee.returns.size() == returns &&
              (!returns || callee.returns[0].bytes == function.return_bytes) &&
              inst.call_args.size() == callee.params.size() && inst.call_returns.size() <= 1;
  for (size_t i = 0; fits && i < callee.params.size(); ++i)
    fits = callee.params[i].bytes == function.param_bytes[i];
  if (!fits)
    return fail(inst, "'" + callee.name + "' is not declared as the device runtime has it");
  // By argument: an array of scalars a lane, or the storage of a structure.
  std::vector<Value*> arrays;
  for (size_t i = 0; i < inst.call_args.size(); ++i) {
    const Operand& o = inst.call_args[i];
    const PType t = function.param_bytes[i] == 4 ? PType::b32 : PType::b64;
    if (kernel::is_by_address(function.param_bytes[i])) {
      if (o.kind != Operand::Kind::symbol) return fail(inst, "a structure is no register");
      arrays.push_back(storage_of(o).memory);
    } else {
      arrays.push_back(
          spill(o.kind == Operand::Kind::symbol ? load_storage(storage_of(o), 0, t) : read(o, t),
                scalar_type(t)));
    }
  }
  llvm::Type* result_type = function.return_bytes == 4 ? i32 : i64;
  const PType result_ptx = function.return_bytes == 4 ? PType::b32 : PType::b64;
  Value* out = spill(Val::scalar(ConstantInt::get(result_type, 0)), result_type);
  auto* words_type = ArrayType::get(i64, kernel::most_device_call_arguments);
  Value* words = entry_alloca(words_type, "device.call", false);
  auto* ft = FunctionType::get(i64, {p, p, i32, i32, i32, p}, false);
  Value* base = thread_linear_base();
  for_each_lane(active(), [&](Value* lane) {
    for (size_t i = 0; i < arrays.size(); ++i) {
      const uint8_t bytes = function.param_bytes[i];
      Value* word;
      if (kernel::is_by_address(bytes)) {
        Value* at = b_.CreateMul(b_.CreateZExt(lane, i64), b_.getInt64(bytes));
        word = b_.CreatePtrToInt(b_.CreateInBoundsGEP(b_.getInt8Ty(), arrays[i], at), i64);
      } else {
        word = b_.CreateZExt(load_lane(arrays[i], bytes == 4 ? i32 : i64, lane), i64);
      }
      b_.CreateStore(word,
                     b_.CreateConstInBoundsGEP2_32(words_type, words, 0, static_cast<unsigned>(i)));
    }
    Value* value = b_.CreateCall(
        ft, runtime(offsetof(Runtime, device_call)),
        {ctx_, warp_ctx_ ? warp_ctx_ : ConstantPointerNull::get(p), b_.getInt32(function.call),
         scalar_mode() ? base : b_.CreateAdd(base, lane), b_.getInt32(inst.line), words});
    store_lane(out, result_type, lane, b_.CreateTrunc(value, result_type));
  });
  if (inst.call_returns.empty()) return;
  Val r = scalar_mode() ? Val::scalar(b_.CreateLoad(result_type, out))
                        : Val::vector(b_.CreateLoad(vec_type(result_type), out));
  if (inst.call_returns[0].kind == Operand::Kind::symbol)
    store_storage(storage_of(inst.call_returns[0]), 0, r, result_ptx);
  else
    write(inst.call_returns[0], r, result_ptx);
}

void Lowering::call_direct(const Inst& inst, Index callee, Value* lanes) {
  llvm::Function* f = declare_function(unit_, callee);
  const ptx::Function& fn = unit_.ptx.functions[callee];
  if (inst.call_args.size() != fn.params.size() || inst.call_returns.size() != fn.returns.size())
    return fail(inst, "call of '" + fn.name + "' with " + std::to_string(inst.call_args.size()) +
                          " arguments where it has " + std::to_string(fn.params.size()));
  std::vector<Value*> args{ctx_, warp_ctx_ ? warp_ctx_ : ConstantPointerNull::get(b_.getPtrTy()),
                           warp_ ? warp_ : b_.getInt32(0),
                           scalar_mode() ? b_.getInt32(1) : bits(lanes)};
  auto pass = [&](const Operand& o, const ptx::Param& param) -> Value* {
    if (o.kind == Operand::Kind::symbol) return storage_of(o).memory;
    Storage s = make_storage(param.bytes, false, "arg");
    Val v = read(o, param.type);
    if (scalar_mode())
      b_.CreateStore(v.base, s.memory);
    else
      b_.CreateAlignedStore(vec(v), s.memory, Align(64));
    return s.memory;
  };
  std::vector<std::pair<const Operand*, Storage>> results;
  for (size_t i = 0; i < fn.returns.size(); ++i) {
    const Operand& o = inst.call_returns[i];
    if (o.kind == Operand::Kind::symbol) {
      args.push_back(storage_of(o).memory);
    } else {
      Storage s = make_storage(fn.returns[i].bytes, false, "result");
      args.push_back(s.memory);
      results.push_back({&o, s});
    }
  }
  for (size_t i = 0; i < fn.params.size(); ++i)
    args.push_back(pass(inst.call_args[i], fn.params[i]));
  b_.CreateCall(f, args);
  size_t k = 0;
  for (size_t i = 0; i < fn.returns.size(); ++i)
    if (inst.call_returns[i].kind != Operand::Kind::symbol) {
      write(*results[k].first, load_storage(results[k].second, 0, fn.returns[i].type),
            fn.returns[i].type);
      ++k;
    }
}

/// A function address is a token (module function index << 4). Every function of the module with
/// the right parameters is a candidate; lanes are served target by target.
void Lowering::call_indirect(const Inst& inst) {
  Val target = read(inst.ops[0], PType::b64);
  std::vector<Index> candidates;
  if (inst.target_list != ptx::no_index && inst.target_list < fn_.call_targets.size()) {
    candidates = fn_.call_targets[inst.target_list];
  } else {
    auto same = [](const std::vector<ptx::Param>& a, const std::vector<ptx::Param>& b) {
      if (a.size() != b.size()) return false;
      for (size_t i = 0; i < a.size(); ++i)
        if (a[i].bytes != b[i].bytes) return false;
      return true;
    };
    if (inst.prototype == ptx::no_index) return fail(inst, "indirect call without a prototype");
    const ptx::Prototype& proto = fn_.prototypes[inst.prototype];
    for (Index i = 0; i < unit_.ptx.functions.size(); ++i) {
      const ptx::Function& f = unit_.ptx.functions[i];
      if (!f.is_entry && f.has_body && same(f.params, proto.params) &&
          same(f.returns, proto.returns))
        candidates.push_back(i);
    }
  }
  auto token = [&](Index i) { return 0xF00D000000000000ull | (uint64_t{i} << 4); };
  if (scalar_mode()) {
    BasicBlock* after = BasicBlock::Create(llvm_, "called", out_);
    BasicBlock* bad = BasicBlock::Create(llvm_, "no.function", out_);
    SwitchInst* sw = b_.CreateSwitch(target.base, bad, static_cast<unsigned>(candidates.size()));
    for (Index i : candidates) {
      BasicBlock* bb = BasicBlock::Create(llvm_, "target", out_);
      sw->addCase(b_.getInt64(token(i)), bb);
      b_.SetInsertPoint(bb);
      call_direct(inst, i, nullptr);
      b_.CreateBr(after);
    }
    b_.SetInsertPoint(bad);
    fault(kernel::Fault::invalid_pc, inst.line, nullptr, target.base);
    b_.SetInsertPoint(after);
    return;
  }
  Value* lanes = active();
  Value* v = vec(target);
  Value* saved = guard_mask_;
  Value* left = lanes;
  for (Index i : candidates) {
    Value* mine = b_.CreateAnd(lanes, b_.CreateICmpEQ(v, splat(b_.getInt64(token(i)))));
    left = b_.CreateAnd(left, b_.CreateNot(mine));
    then(any(mine), [&] {
      guard_mask_ = mine;
      call_direct(inst, i, mine);
      guard_mask_ = saved;
    });
  }
  fault_if(left, kernel::Fault::invalid_pc, inst.line, v);
}

void Lowering::lower_call(const Inst& inst) {
  const Operand& callee = inst.ops[0];
  if (callee.kind == Operand::Kind::reg) return call_indirect(inst);
  if (callee.symbol_kind != Operand::SymbolKind::function)
    return fail(inst, "call target is not a function");
  const ptx::Function& f = unit_.ptx.functions[callee.index];
  if (!f.has_body) {
    if (const kernel::DeviceFunction* function = kernel::find_device_function(f.name))
      return call_device_runtime(inst, f, *function);
    if (kernel::is_old_device_function(f.name)) {
      if (unit_.error.empty()) unit_.error_code = Code::unsupported_devside_sync;
      return fail(inst,
                  "'" + f.name +
                      "' is of the first device runtime (CDP1), in which kernels wait for what "
                      "they launch; compute capability 9.0 and later have none: build for "
                      "the second, without CUDA_FORCE_CDP1_IF_SUPPORTED");
    }
    if (call_service(inst, f)) return;
    return fail(inst, "call of '" + f.name + "', which has no body here, is not supported");
  }
  call_direct(inst, callee.index, scalar_mode() ? nullptr : active());
}

}  // namespace limen::simt
