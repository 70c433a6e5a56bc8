// The skeleton of a lowered function: regions, warp loops, masks and control flow. See lower.h and
// docs/design/simt.md ("Control flow"). Instructions themselves are in lower_<family>.cpp.
#include "compiler/simt/lower.h"

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Verifier.h>

#include "compiler/ptx/parser.h"
#include "compiler/ptx/table.h"
#include "compiler/simt/whole.h"

namespace limen::simt {

using namespace llvm;
using kernel::BlockContext;
using kernel::LaunchContext;
using kernel::Strategy;
using ptx::Index;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;

Lowering::Lowering(Unit& unit, const Plan& plan, Index function_index,
                   const std::vector<uint64_t>& shared_offsets, const FrameLayout& frame)
    : unit_(unit),
      plan_(plan),
      fn_(unit.ptx.functions[function_index]),
      fn_index_(function_index),
      shared_offsets_(shared_offsets),
      frame_(frame),
      llvm_(unit.module.getContext()),
      b_(llvm_),
      none_left_(plan.graph.nodes.size()) {}

void Lowering::fail(const Inst& inst, const std::string& what) {
  if (!unit_.error.empty()) return;
  unit_.error = "line " + std::to_string(inst.line) + ": " + what + " in '" + fn_.name + "'";
}

void Lowering::begin_function(llvm::Function* fn) {
  out_ = fn;
  fn->addFnAttr(Attribute::NoUnwind);
  // So that LLVM folds constants as the machine computes.
  if (unit_.flush_by_mxcsr) fn->addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
  fn->addFnAttr("target-cpu", unit_.target.cpu);
  fn->addFnAttr("target-features", unit_.target.features);
  fn->addFnAttr("prefer-vector-width", unit_.target.avx512 ? "512" : "256");
  fn->addFnAttr("min-legal-vector-width", unit_.target.avx512 ? "512" : "256");
  fn->addFnAttr("no-builtins");
  entry_ = BasicBlock::Create(llvm_, "entry", fn);
  b_.SetInsertPoint(entry_);
  slots_.assign(plan_.graph.registers, Slot{});
  params_.clear();
  locals_.clear();
  lane_rooms_.clear();
  word_rooms_.clear();
  texture_words_ = tensor_words_ = nullptr;
  std::fill(std::begin(matrix_words_), std::end(matrix_words_), nullptr);
  guard_mask_ = write_guard_ = node_mask_ = nullptr;
  node_ = no_node;
  rp_ = nullptr;
}

// -- kernels
// ---------------------------------------------------------------------------------------

void Lowering::make_kernel() {
  if (plan_.strategy == Strategy::region)
    make_kernel_region();
  else
    make_kernel_fiber();
}

Value* Lowering::initial_mask(Value* warp) {
  if (unit_.launch.block_known() && unit_.launch.threads() % width() == 0)
    return ConstantInt::getTrue(vec_type(int_type(1)));
  Value* threads;
  if (unit_.launch.block_known()) {
    threads = b_.getInt32(unit_.launch.threads());
  } else {
    Value* d[3];
    for (int i = 0; i < 3; ++i)
      d[i] = launch_field(offsetof(LaunchContext, block) + 4 * static_cast<size_t>(i),
                          b_.getInt32Ty());
    threads = b_.CreateMul(b_.CreateMul(d[0], d[1]), d[2]);
  }
  Value* left = b_.CreateSub(threads, b_.CreateMul(warp, b_.getInt32(width())));
  return b_.CreateICmpULT(lane_ids(), splat(left));
}

void Lowering::make_kernel_region() {
  lay_out_slots();
  none_left_ = nodes_before_exits();
  std::vector<llvm::Function*> regions;
  for (uint32_t i = 0; i < plan_.regions.size(); ++i) regions.push_back(make_region(i));

  auto* ft = FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
  auto* fn = llvm::Function::Create(ft, GlobalValue::ExternalLinkage, "limen_kernel", unit_.module);
  begin_function(fn);
  ctx_ = fn->getArg(0);
  Value* warps;
  if (unit_.launch.block_known()) {
    warps = b_.getInt32((unit_.launch.threads() + width() - 1) / width());
  } else {
    Value* n = b_.getInt32(1);
    for (size_t i = 0; i < 3; ++i)
      n = b_.CreateMul(n, launch_field(offsetof(LaunchContext, block) + 4 * i, b_.getInt32Ty()));
    warps = b_.CreateUDiv(b_.CreateAdd(n, b_.getInt32(width() - 1)), b_.getInt32(width()));
  }
  BasicBlock* exit = BasicBlock::Create(llvm_, "exit", fn);
  auto loop = [&](const char* name, BasicBlock* after, const std::function<void(Value*)>& body) {
    BasicBlock* before = b_.GetInsertBlock();
    BasicBlock* head = BasicBlock::Create(llvm_, name, fn);
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    PHINode* w = b_.CreatePHI(b_.getInt32Ty(), 2);
    w->addIncoming(b_.getInt32(0), before);
    body(w);
    Value* next = b_.CreateAdd(w, b_.getInt32(1));
    w->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpULT(next, warps), head, after);
  };
  if (plan_.regions.size() == 1) {
    regions[0]->addFnAttr(Attribute::AlwaysInline);
    loop("warp", exit, [&](Value* w) { b_.CreateCall(regions[0], {ctx_, w}); });
    b_.SetInsertPoint(exit);
    b_.CreateRetVoid();
    return;
  }
  // With barriers: every warp runs to its next barrier, then the next warp, until all are done.
  Value* slots = ctx_field(offsetof(BlockContext, slots), b_.getPtrTy());
  Value* scratch =
      b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx_, offsetof(BlockContext, scratch));
  auto word = [&](Value* base, uint64_t i) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), base, i);
  };
  for (uint64_t i = 0; i < 8; ++i) b_.CreateStore(b_.getInt32(0), word(scratch, i));
  auto slot_of = [&](Value* w) {
    Value* offset = b_.CreateMul(b_.CreateZExt(w, b_.getInt64Ty()), b_.getInt64(slot_bytes_));
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), slots, offset);
  };
  BasicBlock* rounds = BasicBlock::Create(llvm_, "round", fn);
  loop("start", rounds, [&](Value* w) {
    Value* s = slot_of(w);
    b_.CreateStore(b_.CreateCall(regions[0], {ctx_, w}), s);
  });
  b_.SetInsertPoint(rounds);
  // bar.red: what was gathered before the barrier is the result behind it.
  for (uint64_t i = 0; i < 3; ++i) {
    b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), word(scratch, i)), word(scratch, 4 + i));
    b_.CreateStore(b_.getInt32(0), word(scratch, i));
  }
  AllocaInst* running = entry_alloca(b_.getInt32Ty(), "running");
  b_.CreateStore(b_.getInt32(0), running);
  BasicBlock* check = BasicBlock::Create(llvm_, "check", fn);
  // Warp 0 last: it writes what all others read (a sum in shared[0]), and code that forgets the
  // barrier before its next write works on a GPU, where everybody has read long before.
  loop("resume", check, [&](Value* i) {
    Value* following = b_.CreateAdd(i, b_.getInt32(1));
    Value* w = b_.CreateSelect(b_.CreateICmpEQ(following, warps), b_.getInt32(0), following);
    Value* s = slot_of(w);
    Value* next = b_.CreateLoad(b_.getInt32Ty(), s);
    BasicBlock* after = BasicBlock::Create(llvm_, "resumed", fn);
    SwitchInst* sw = b_.CreateSwitch(next, after, static_cast<unsigned>(regions.size()));
    for (uint32_t i = 1; i < regions.size(); ++i) {
      BasicBlock* bb = BasicBlock::Create(llvm_, "region", fn);
      sw->addCase(b_.getInt32(i + 1), bb);
      b_.SetInsertPoint(bb);
      Value* r = b_.CreateCall(regions[i], {ctx_, w});
      b_.CreateStore(r, s);
      b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), running), r), running);
      b_.CreateBr(after);
    }
    b_.SetInsertPoint(after);
  });
  b_.SetInsertPoint(check);
  b_.CreateCondBr(b_.CreateICmpNE(b_.CreateLoad(b_.getInt32Ty(), running), b_.getInt32(0)), rounds,
                  exit);
  b_.SetInsertPoint(exit);
  b_.CreateRetVoid();
}

/// Nodes that lanes come to only while none of their warp has left the kernel.
Bits Lowering::nodes_before_exits() const {
  const Graph& g = plan_.graph;
  Bits before(g.nodes.size()), left(g.nodes.size());
  if (!unit_.launch.block_known() || unit_.launch.threads() % width() != 0) return before;
  std::vector<NodeId> open;
  const auto reach = [&](NodeId n) {
    if (!left.has(n)) left.add(n), open.push_back(n);
  };
  for (const RegionPlan& p : plan_.regions) {
    bool under_mask = false;
    for (NodeId n : p.region.order) {
      const Leave leave = g.nodes[n].leave;
      if (leave == Leave::cond_ret) reach(n);
      under_mask |= p.masked.has(n) && (leave == Leave::cond_ret || leave == Leave::ret);
    }
    // Others of the warp are anywhere in the masked nodes then.
    if (under_mask)
      for (NodeId n : p.region.order) reach(n);
  }
  while (!open.empty()) {
    const NodeId n = open.back();
    open.pop_back();
    for (NodeId s : g.nodes[n].succ) reach(s);
  }
  for (NodeId n = 0; n < g.nodes.size(); ++n)
    if (!left.has(n)) before.add(n);
  return before;
}

llvm::Function* Lowering::make_region(uint32_t index) {
  auto* ft = FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy(), b_.getInt32Ty()}, false);
  auto* fn = llvm::Function::Create(ft, GlobalValue::InternalLinkage,
                                    "region" + std::to_string(index), unit_.module);
  begin_function(fn);
  ctx_ = fn->getArg(0);
  warp_ = fn->getArg(1);
  region_index_ = index;
  const RegionPlan& rp = plan_.regions[index];
  live_ = entry_alloca(vec_type(int_type(1)), "live", false);
  if (index == 0)
    b_.CreateStore(initial_mask(warp_), live_);
  else
    load_slots(index);
  emit_nodes(rp);
  return fn;
}

void Lowering::make_kernel_fiber() {
  auto* ft = FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
  auto* fn = llvm::Function::Create(ft, GlobalValue::ExternalLinkage, "limen_kernel", unit_.module);
  begin_function(fn);
  ctx_ = fn->getArg(0);
  warp_ctx_ = fn->getArg(1);
  if (!scalar_mode()) {
    warp_ = b_.CreateLoad(b_.getInt32Ty(),
                          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_ctx_,
                                                        offsetof(kernel::WarpContext, warp)));
    live_ = entry_alloca(vec_type(int_type(1)), "live", false);
    b_.CreateStore(initial_mask(warp_), live_);
  }
  emit_nodes(plan_.regions[0]);
}

void Lowering::make_function() {
  llvm::Function* fn = unit_.functions.at(fn_index_);
  begin_function(fn);
  ctx_ = fn->getArg(0);
  warp_ctx_ = fn->getArg(1);
  warp_ = fn->getArg(2);
  unsigned arg = 4;
  auto take = [&](const std::vector<ptx::Param>& params, bool returns) {
    for (Index i = 0; i < params.size(); ++i) {
      Storage s{fn->getArg(arg++), params[i].bytes,
                !(params[i].bytes <= 8 && params[i].bytes == ptx::size_of(params[i].type))};
      if (returns)
        returns_.push_back(s);
      else
        params_[i] = s;
    }
  };
  take(fn_.returns, true);
  take(fn_.params, false);
  if (!scalar_mode()) {
    live_ = entry_alloca(vec_type(int_type(1)), "live", false);
    b_.CreateStore(mask_of_bits(fn->getArg(3)), live_);
  }
  if (frame_.local_bytes) {
    auto* t = ArrayType::get(b_.getInt8Ty(), frame_.local_bytes * width());
    AllocaInst* a = entry_alloca(t, "frame", false);
    a->setAlignment(Align(64));
    frame_base_ = a;
  }
  for (Index i = 0; i < fn_.params.size(); ++i)
    if (fn_.params[i].reg != ptx::no_index) {
      Val v = load_storage(params_[i], 0, fn_.params[i].type);
      write_reg(fn_.params[i].reg, v);
    }
  emit_nodes(plan_.regions[0]);
}

llvm::Function* Lowering::declare_function(Unit& unit, Index index) {
  auto it = unit.functions.find(index);
  if (it != unit.functions.end()) return it->second;
  const ptx::Function& f = unit.ptx.functions[index];
  LLVMContext& c = unit.module.getContext();
  auto* p = PointerType::get(c, 0);
  auto* i32 = llvm::Type::getInt32Ty(c);
  std::vector<llvm::Type*> types{p, p, i32, i32};
  types.insert(types.end(), f.returns.size() + f.params.size(), p);
  auto* ft = FunctionType::get(llvm::Type::getVoidTy(c), types, false);
  auto* fn = llvm::Function::Create(ft, GlobalValue::InternalLinkage, "f." + f.name, unit.module);
  unit.functions[index] = fn;
  unit.pending.push_back(index);
  return fn;
}

// -- control flow
// ----------------------------------------------------------------------------------

void Lowering::emit_nodes(const RegionPlan& rp) {
  rp_ = &rp;
  const size_t n = plan_.graph.nodes.size();
  heads_.assign(n, nullptr);
  masks_.assign(n, nullptr);
  ends_.assign(rp.component_end.size(), nullptr);
  done_ = BasicBlock::Create(llvm_, "done", out_);
  for (NodeId id : rp.region.order) {
    heads_[id] = BasicBlock::Create(llvm_, "n" + std::to_string(id), out_);
    if (rp.masked.has(id)) masks_[id] = entry_alloca(vec_type(int_type(1)), "mask");
  }
  whole_ = choose_whole(plan_, rp, none_left_);
  live_full_ = none_left_.has(rp.region.entry);
  whole_heads_.assign(n, nullptr);
  whole_.each([&](size_t id) {
    whole_heads_[id] = BasicBlock::Create(llvm_, "w" + std::to_string(id), out_);
  });
  if (region_index_ != 0 && out_->arg_size() == 2 && !warp_ctx_) {
    for (NodeId b = 0; b < n; ++b)
      if (plan_.region_after[b] == region_index_) {
        const Inst* last = plan_.graph.last(plan_.graph.nodes[b]);
        if (last->has(Tok::red)) read_reduction(*last);
      }
  }
  rejoin(rp.region.entry);
  for (NodeId id : rp.region.order) {
    emit_node(id);
    if (whole_.has(id)) emit_whole_node(id);
  }
  b_.SetInsertPoint(done_);
  if (out_->getReturnType()->isVoidTy())
    b_.CreateRetVoid();
  else
    b_.CreateRet(b_.getInt32(0));
  rp_ = nullptr;
}

void Lowering::emit_node(NodeId id) {
  node_ = id;
  node_mask_ = nullptr;
  live_full_ = none_left_.has(id);
  b_.SetInsertPoint(heads_[id]);
  if (rp_->masked.has(id)) {
    Value* here = b_.CreateLoad(vec_type(int_type(1)), masks_[id]);
    Value* m = rp_->syncs.has(id) ? ready_for_sync(id, here) : here;
    BasicBlock* body = BasicBlock::Create(llvm_, "n" + std::to_string(id) + ".body", out_);
    BasicBlock* skip = BasicBlock::Create(llvm_, "n" + std::to_string(id) + ".skip", out_);
    b_.CreateCondBr(any(m), body, skip);
    b_.SetInsertPoint(skip);
    jump_chain(id);
    b_.SetInsertPoint(body);
    b_.CreateStore(
        m == here ? Constant::getNullValue(here->getType()) : b_.CreateAnd(here, b_.CreateNot(m)),
        masks_[id]);
    node_mask_ = m;
  }
  emit_body(id);
  node_ = no_node;
  node_mask_ = nullptr;
}

void Lowering::emit_body(NodeId id) {
  loaded_.clear();
  storing_ = {};
  const Node& node = plan_.graph.nodes[id];
  const bool leaves_by_inst = node.leave == Leave::branch || node.leave == Leave::cond ||
                              node.leave == Leave::indexed || node.leave == Leave::barrier ||
                              node.leave == Leave::cond_ret;
  uint32_t end = node.end;
  const Inst* last = plan_.graph.last(node);
  if (leaves_by_inst && end > node.begin) --end;
  if (node.leave == Leave::ret && last && (last->op == Op::ret || last->op == Op::exit)) --end;
  for (uint32_t i = node.begin; i < end; ++i) {
    if (!unit_.error.empty()) break;
    position_ = i;
    emit_inst(plan_.graph.inst(node, i));
    if (b_.GetInsertBlock()->getTerminator()) break;
  }
  if (!b_.GetInsertBlock()->getTerminator()) emit_leave(id);
}

void Lowering::emit_leave(NodeId id) {
  const Node& node = plan_.graph.nodes[id];
  const Inst* last = plan_.graph.last(node);
  if (unit_.launch.scalar || plan_.strategy != Strategy::region) {
    // Loops must let others run where they may be waiting for them.
    for (NodeId s : rp_->region.succ[id])
      if (rp_->region.position[s] <= rp_->region.position[id] && waits_in_loop(s)) {
        lower_yield();
        break;
      }
  }
  switch (node.leave) {
    case Leave::fall:
    case Leave::branch:
      if (full_ || !rp_->masked.has(id)) {
        jump(node.succ[0]);
        break;
      }
      send(id, node.succ[0], active());
      jump_chain(id);
      break;
    case Leave::cond:
      leave_cond(id, *last);
      break;
    case Leave::indexed:
      leave_indexed(id, *last);
      break;
    case Leave::barrier:
      leave_barrier(id, *last);
      break;
    case Leave::ret:
      if (fn_.is_entry == false && last && last->op == Op::exit) {
        fail(*last, "exit inside a device function is not supported");
      }
      leave_ret(id, active());
      break;
    case Leave::cond_ret: {
      Val g = read_reg(last->guard);
      if (last->guard_negated != node.inverted)
        g = g.uniform() ? Val::scalar(b_.CreateNot(g.base)) : Val::vector(b_.CreateNot(vec(g)));
      if (scalar_mode()) {
        b_.CreateCondBr(g.base, done_, heads_[node.succ[0]]);
        break;
      }
      if (full_) {
        BasicBlock* stay = BasicBlock::Create(llvm_, "stay", out_);
        part_or_branch(id, *last, g, done_, stay, true, true);
        b_.SetInsertPoint(stay);
        jump(node.succ[0]);
        break;
      }
      leave_some(id, g);
      break;
    }
    case Leave::stop:
      if (!b_.GetInsertBlock()->getTerminator()) {
        // A call that does not return came back, or trap was lowered as a fault already.
        fault(kernel::Fault::trap, last ? last->line : 0, active(), nullptr);
      }
      break;
  }
}

bool Lowering::waits_in_loop(NodeId header) const {
  if (rp_->masked.has(header) && rp_->waits.has(header)) return false;  // at the component's end
  const auto& loops = plan_.waits.loops;
  return plan_.waits.anywhere || std::any_of(loops.begin(), loops.end(), [&](const Loop& loop) {
           return loop.header == header;
         });
}

/// Lanes of `g` leave the kernel, the others go on.
void Lowering::leave_some(NodeId id, const Val& g) {
  const NodeId on = plan_.graph.nodes[id].succ[0];
  Value* lanes = active();
  Value* out = b_.CreateAnd(lanes, vec(g));
  Value* live = b_.CreateLoad(live_->getAllocatedType(), live_);
  b_.CreateStore(b_.CreateAnd(live, b_.CreateNot(out)), live_);
  if (rp_->masked.has(id)) {
    send(id, on, b_.CreateAnd(lanes, b_.CreateNot(out)));
    jump_chain(id);
    return;
  }
  BasicBlock* some = BasicBlock::Create(llvm_, "some", out_);
  b_.CreateCondBr(any(b_.CreateAnd(live, b_.CreateNot(out))), some, done_);
  b_.SetInsertPoint(some);
  jump(on);
}

/// Adds lanes to the mask of `to`. Lanes that go to where their component meets wait there unnamed:
/// that node runs with all live lanes.
void Lowering::send(NodeId from, NodeId to, Value* lanes) {
  if (!rp_->masked.has(to) || scalar_mode()) return;
  if (rp_->masked.has(from) && rp_->component[from] != rp_->component[to]) return;
  if (!rp_->masked.has(from) && rp_->component[to] != no_node) {
    const Node& n = plan_.graph.nodes[from];
    if (n.leave != Leave::cond && n.leave != Leave::indexed) return;  // jump() passes all lanes on
  }
  Value* old = b_.CreateLoad(vec_type(int_type(1)), masks_[to]);
  b_.CreateStore(b_.CreateOr(old, lanes), masks_[to]);
}

/// From where all live lanes are together.
void Lowering::jump(NodeId to) {
  if (whole_.has(to)) {
    if (full_) {
      b_.CreateBr(whole_heads_[to]);
      return;
    }
    if (rp_->masked.has(to)) branch_if_whole(to);
  }
  if (rp_->masked.has(to) && !scalar_mode()) {
    Value* live = live_full_ ? ConstantInt::getTrue(vec_type(int_type(1)))
                             : static_cast<Value*>(b_.CreateLoad(live_->getAllocatedType(), live_));
    b_.CreateStore(live, masks_[to]);
  }
  b_.CreateBr(heads_[to]);
}

/// To the next node of the component's chain; at a loop's last node back to its header while lanes
/// wait there.
void Lowering::jump_chain(NodeId from) {
  const Region& r = rp_->region;
  const uint32_t component = rp_->component[from];
  // Loops that end at this node, innermost first.
  std::vector<uint32_t> ending;
  for (uint32_t l = r.loop_of[from]; l != no_node; l = r.loops[l].parent) {
    uint32_t last = 0;
    r.loops[l].nodes.each([&](size_t n) {
      if (rp_->masked.has(n) && rp_->component[n] == component)
        last = std::max(last, r.position[n]);
    });
    if (last == r.position[from]) ending.push_back(l);
  }
  for (uint32_t l : ending) {
    NodeId header = r.loops[l].header;
    if (!rp_->masked.has(header) || rp_->component[header] != component) continue;
    if (rp_->waits.has(header)) continue;  // once everybody else has gone on
    BasicBlock* on = BasicBlock::Create(llvm_, "loop.done", out_);
    if (whole_.has(header)) {
      // All lanes wait here, so none waits elsewhere.
      BasicBlock* apart = BasicBlock::Create(llvm_, "apart", out_);
      b_.CreateCondBr(all(b_.CreateLoad(vec_type(int_type(1)), masks_[header])),
                      unmask_header(header), apart);
      b_.SetInsertPoint(apart);
    }
    b_.CreateCondBr(any(b_.CreateLoad(vec_type(int_type(1)), masks_[header])), heads_[header], on);
    b_.SetInsertPoint(on);
  }
  if (rp_->next[from] != no_node) {
    b_.CreateBr(heads_[rp_->next[from]]);
    return;
  }
  end_of_component(component);
}

/// Lanes at the synchronising first instruction of node `id` whose partners are there too; those
/// that its guard lets pass need none. `here`: all lanes at the node.
Value* Lowering::ready_for_sync(NodeId id, Value* here) {
  const Node& node = plan_.graph.nodes[id];
  const Inst& inst = plan_.graph.inst(node, node.begin);
  Value* arrived = here;
  Value* passing = Constant::getNullValue(here->getType());
  if (inst.guard != ptx::no_index) {
    Value* g = vec(read_reg(inst.guard));
    if (inst.guard_negated) g = b_.CreateNot(g);
    arrived = b_.CreateAnd(here, g);
    passing = b_.CreateAnd(here, b_.CreateNot(g));
  }
  Value* live = bits(b_.CreateLoad(live_->getAllocatedType(), live_));
  Value* missing = b_.CreateAnd(live, b_.CreateNot(bits(arrived)));
  const Operand* member = member_mask(inst);
  Val m = member ? read(*member, ptx::Type::u32) : Val::scalar(b_.getInt32(~0u));
  Value* complete;
  if (m.uniform())
    complete = splat(b_.CreateICmpEQ(b_.CreateAnd(m.base, missing), b_.getInt32(0)));
  else
    complete = b_.CreateICmpEQ(b_.CreateAnd(vec(m), splat(missing)),
                               Constant::getNullValue(vec_type(b_.getInt32Ty())));
  return b_.CreateOr(passing, b_.CreateAnd(arrived, complete));
}

/// An independent component's end: while lanes wait in a loop or for partners, once more from the
/// first place where they may be. Others of the block run in between.
void Lowering::again_while_waiting(uint32_t component) {
  llvm::Type* mask = vec_type(int_type(1));
  Value* waiting = Constant::getNullValue(mask);
  Value* syncing = waiting;
  NodeId first = no_node, sync = no_node;
  for (NodeId n : rp_->region.order) {
    if (rp_->component[n] != component || !(rp_->waits.has(n) || rp_->syncs.has(n))) continue;
    if (first == no_node) first = n;
    Value*& held = rp_->waits.has(n) ? waiting : syncing;
    if (!rp_->waits.has(n) && sync == no_node) sync = n;
    held = b_.CreateOr(held, b_.CreateLoad(mask, masks_[n]));
  }
  BasicBlock* wait = BasicBlock::Create(llvm_, "wait", out_);
  BasicBlock* quiet = BasicBlock::Create(llvm_, "quiet", out_);
  BasicBlock* on = BasicBlock::Create(llvm_, "on", out_);
  AllocaInst* before = sync == no_node ? nullptr : entry_alloca(mask, "before");
  b_.CreateCondBr(any(waiting), wait, quiet);
  b_.SetInsertPoint(wait);
  if (before) b_.CreateStore(Constant::getNullValue(mask), before);
  lower_yield();
  b_.CreateBr(heads_[first]);
  b_.SetInsertPoint(quiet);
  if (sync == no_node) {
    b_.CreateBr(on);
  } else {
    // Nobody waits for anybody else's store. Who is held now is so for ever, unless lanes exited.
    BasicBlock* held = BasicBlock::Create(llvm_, "held", out_);
    BasicBlock* free = BasicBlock::Create(llvm_, "free", out_);
    b_.CreateCondBr(any(syncing), held, free);
    b_.SetInsertPoint(held);
    Value* live = b_.CreateLoad(mask, live_);
    Value* same = all(b_.CreateNot(b_.CreateXor(live, b_.CreateLoad(mask, before))));
    const Node& node = plan_.graph.nodes[sync];
    fault_if(b_.CreateAnd(syncing, splat(same)), kernel::Fault::lanes_apart,
             plan_.graph.inst(node, node.begin).line, nullptr);
    b_.CreateStore(live, before);
    b_.CreateBr(heads_[first]);
    b_.SetInsertPoint(free);
    b_.CreateStore(Constant::getNullValue(mask), before);
    b_.CreateBr(on);
  }
  b_.SetInsertPoint(on);
}

void Lowering::end_of_component(uint32_t component) {
  if (rp_->independent[component]) {
    BasicBlock*& end = ends_[component];
    const bool made = end != nullptr;
    if (!made) end = BasicBlock::Create(llvm_, "end", out_);
    b_.CreateBr(end);
    if (made) return;
    b_.SetInsertPoint(end);
    again_while_waiting(component);
  }
  NodeId meet = rp_->component_end[component];
  if (meet == no_node) {
    b_.CreateBr(done_);
    return;
  }
  if (!live_full_) {
    BasicBlock* some = BasicBlock::Create(llvm_, "some", out_);
    b_.CreateCondBr(any(b_.CreateLoad(live_->getAllocatedType(), live_)), some, done_);
    b_.SetInsertPoint(some);
  }
  rejoin(meet);
}

void Lowering::leave_cond(NodeId id, const Inst& inst) {
  const Node& node = plan_.graph.nodes[id];
  NodeId taken = node.succ[0], other = node.succ[1];
  Val g = read_reg(inst.guard);
  const bool masked = rp_->masked.has(id);
  if (inst.guard_negated)
    g = g.uniform() ? Val::scalar(b_.CreateNot(g.base)) : Val::vector(b_.CreateNot(vec(g)));
  if (scalar_mode() || (g.uniform() && (full_ || !masked))) {
    BasicBlock* t = BasicBlock::Create(llvm_, "taken", out_);
    BasicBlock* f = BasicBlock::Create(llvm_, "other", out_);
    b_.CreateCondBr(g.base, t, f);
    b_.SetInsertPoint(t);
    jump(taken);
    b_.SetInsertPoint(f);
    jump(other);
    return;
  }
  if (taken == other) {
    if (full_ || !masked) return jump(taken);
    send(id, taken, active());
    jump_chain(id);
    return;
  }
  if (full_ || (!masked && !whole_.has(id) && (whole_.has(taken) || whole_.has(other)))) {
    if (!full_ && !live_full_) {
      BasicBlock* whole = BasicBlock::Create(llvm_, "whole", out_);
      BasicBlock* part = BasicBlock::Create(llvm_, "part", out_);
      b_.CreateCondBr(all(active()), whole, part, MDBuilder(llvm_).createBranchWeights(16, 1));
      b_.SetInsertPoint(part);
      part_lanes(id, g);
      b_.SetInsertPoint(whole);
    }
    as_whole([&] {
      BasicBlock* t = BasicBlock::Create(llvm_, "taken", out_);
      BasicBlock* f = BasicBlock::Create(llvm_, "other", out_);
      auto unmasked = [&](NodeId to) { return whole_.has(to) || !rp_->masked.has(to); };
      part_or_branch(id, inst, g, t, f, unmasked(taken), unmasked(other));
      b_.SetInsertPoint(t);
      jump(taken);
      b_.SetInsertPoint(f);
      jump(other);
    });
    return;
  }
  part_lanes(id, g);
}

/// A branch whose lanes may go different ways, by masks.
void Lowering::part_lanes(NodeId id, const Val& g) {
  const Node& node = plan_.graph.nodes[id];
  const NodeId taken = node.succ[0], other = node.succ[1];
  const bool masked = rp_->masked.has(id);
  Value* lanes = active();
  Value* cond = g.uniform() ? splat(g.base) : vec(g);
  send(id, taken, b_.CreateAnd(lanes, cond));
  send(id, other, b_.CreateAnd(lanes, b_.CreateNot(cond)));
  if (masked) {
    jump_chain(id);
    return;
  }
  // Unmasked and divergent: start the chain at the earlier of the two arms.
  NodeId first = no_node;
  for (NodeId t : {taken, other})
    if (rp_->masked.has(t) &&
        (first == no_node || rp_->region.position[t] < rp_->region.position[first]))
      first = t;
  if (first == no_node)
    jump(taken);
  else
    b_.CreateBr(heads_[first]);
}

void Lowering::leave_indexed(NodeId id, const Inst& inst) {
  const Node& node = plan_.graph.nodes[id];
  Val index = read(inst.ops[0], ptx::Type::u32);
  if (full_ && !index.uniform()) return as_part(id, [&] { leave_indexed(id, inst); });
  const auto& list = fn_.branch_targets[inst.target_list];
  std::vector<NodeId> targets;
  for (Index label : list) {
    Index block = fn_.label_block[label];
    for (NodeId s : node.succ)
      if (plan_.graph.nodes[s].block == block && plan_.graph.nodes[s].begin == 0) {
        targets.push_back(s);
        break;
      }
  }
  if (targets.size() != list.size()) return fail(inst, "brx.idx targets do not match the list");
  const bool masked = rp_->masked.has(id);
  if (scalar_mode() || (index.uniform() && (full_ || !masked))) {
    BasicBlock* bad = BasicBlock::Create(llvm_, "bad.index", out_);
    SwitchInst* sw = b_.CreateSwitch(index.base, bad, static_cast<unsigned>(targets.size()));
    for (uint32_t i = 0; i < targets.size(); ++i) {
      BasicBlock* bb = BasicBlock::Create(llvm_, "case", out_);
      sw->addCase(b_.getInt32(i), bb);
      b_.SetInsertPoint(bb);
      jump(targets[i]);
    }
    b_.SetInsertPoint(bad);
    fault(kernel::Fault::illegal_instruction, inst.line, active(), nullptr);
    return;
  }
  Value* lanes = active();
  Value* v = vec(index);
  fault_if(b_.CreateAnd(lanes, b_.CreateICmpUGE(
                                   v, splat(b_.getInt32(static_cast<uint32_t>(targets.size()))))),
           kernel::Fault::illegal_instruction, inst.line, nullptr);
  NodeId first = no_node;
  for (uint32_t i = 0; i < targets.size(); ++i) {
    send(id, targets[i], b_.CreateAnd(lanes, b_.CreateICmpEQ(v, splat(b_.getInt32(i)))));
    if (rp_->masked.has(targets[i]) &&
        (first == no_node || rp_->region.position[targets[i]] < rp_->region.position[first]))
      first = targets[i];
  }
  if (masked)
    jump_chain(id);
  else if (first == no_node)
    jump(targets[0]);
  else
    b_.CreateBr(heads_[first]);
}

void Lowering::leave_barrier(NodeId id, const Inst& inst) {
  if (rp_->masked.has(id) && !full_) {
    // All live lanes must be here together: anything else is undefined for an aligned barrier.
    Value* live = b_.CreateLoad(live_->getAllocatedType(), live_);
    fault_if(b_.CreateXor(live, node_mask_), kernel::Fault::lanes_apart, inst.line, nullptr);
  }
  if (inst.has(Tok::red)) accumulate_reduction(inst);
  save_slots(region_index_, id);
  b_.CreateRet(b_.getInt32(plan_.region_after[id] + 1));
}

void Lowering::leave_ret(NodeId id, Value* lanes) {
  if (scalar_mode() || full_ || !rp_->masked.has(id)) {
    b_.CreateBr(done_);
    return;
  }
  Value* live = b_.CreateLoad(live_->getAllocatedType(), live_);
  b_.CreateStore(b_.CreateAnd(live, b_.CreateNot(lanes)), live_);
  jump_chain(id);
}

void Lowering::accumulate_reduction(const Inst& inst) {
  Val p = read(inst.ops.back(), ptx::Type::pred);
  Value* lanes = active();
  Value* yes = b_.CreateAnd(lanes, vec(p));
  auto popc = [&](Value* m) { return b_.CreateUnaryIntrinsic(Intrinsic::ctpop, bits(m)); };
  Value* scratch =
      b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx_, offsetof(BlockContext, scratch));
  auto add = [&](uint64_t i, Value* v) {
    Value* at = b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), scratch, i);
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), at), v), at);
  };
  add(0, popc(yes));
  add(1, popc(lanes));
}

void Lowering::read_reduction(const Inst& inst) {
  Value* scratch =
      b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx_, offsetof(BlockContext, scratch));
  auto get = [&](uint64_t i) {
    return b_.CreateLoad(b_.getInt32Ty(),
                         b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), scratch, i));
  };
  Value* yes = get(4);
  Value* r = inst.has(Tok::popc)   ? yes
             : inst.has(Tok::and_) ? b_.CreateICmpEQ(yes, get(5))
                                   : b_.CreateICmpNE(yes, b_.getInt32(0));
  write(inst.ops[0], Val::scalar(r), inst.has(Tok::popc) ? ptx::Type::u32 : ptx::Type::pred);
}

// -- instructions
// ----------------------------------------------------------------------------------

bool Lowering::has_side_effects(const Inst& inst) const {
  switch (inst.op) {
    case Op::ld:
    case Op::ldu:
    case Op::st:
    case Op::atom:
    case Op::red:
    case Op::call:
    case Op::trap:
    case Op::bar:
    case Op::barrier:
    case Op::shfl:
    case Op::vote:
    case Op::match:
    case Op::redux:
    case Op::activemask:
    case Op::elect:
    case Op::nanosleep:
    case Op::cp:
    case Op::tensormap:
    case Op::mbarrier:
    case Op::membar:
    case Op::fence:
    case Op::brkpt:
    case Op::tex:
    case Op::tld4:
    case Op::txq:
    case Op::suq:
    case Op::istypep:
    case Op::suld:
    case Op::sust:
    case Op::sured:
    case Op::mma:
    case Op::wmma:
    case Op::ldmatrix:
    case Op::stmatrix:
    case Op::movmatrix:
    case Op::alloca:
    case Op::stackrestore:
    case Op::multimem:
      return true;
    case Op::clusterlaunchcontrol:
      return inst.has(Tok::try_cancel);
    default:
      return false;
  }
}

void Lowering::emit_inst(const Inst& inst) {
  nan_bits_ = reads_nan_bits(plan_.nans, inst);
  if (ptx::form(inst).state == ptx::State::later)
    return fail(inst,
                "instruction '" + ptx::to_text(unit_.ptx, fn_, inst) + "' is not supported yet");
  if (inst.guard == ptx::no_index) {
    if (!emit_plain(inst))
      fail(inst, "instruction '" + std::string(ptx::name(inst.op)) + "' is not supported");
    return;
  }
  emit_guarded(inst);
}

void Lowering::emit_guarded(const Inst& inst) {
  auto plain = [&] {
    if (!emit_plain(inst))
      fail(inst, "instruction '" + std::string(ptx::name(inst.op)) + "' is not supported");
  };
  Val g = read_reg(inst.guard);
  if (inst.guard_negated)
    g = g.uniform() ? Val::scalar(b_.CreateNot(g.base)) : Val::vector(b_.CreateNot(vec(g)));
  if (scalar_mode()) {
    then(g.base, plain);
    return;
  }
  if (has_side_effects(inst)) {
    if (g.uniform()) {
      // The lanes stay what they are; the block as a whole may be skipped.
      then(g.base, plain);
      return;
    }
    Value* lanes = b_.CreateAnd(active(), vec(g));
    then(any(lanes), [&] {
      guard_mask_ = lanes;
      plain();
      guard_mask_ = nullptr;
    });
    return;
  }
  write_guard_ = g.uniform() ? g.base : vec(g);
  plain();
  write_guard_ = nullptr;
}

bool Lowering::emit_plain(const Inst& inst) {
  return lower_memory(inst) || lower_warp(inst) || lower_texture(inst) || lower_matrix(inst) ||
         lower_integer(inst) || lower_float(inst);
}

}  // namespace limen::simt
