// Branches, calls, exits and the barriers of a block. Threads arrive at a barrier one by one; lanes
// that have exited count as arrived. A cluster is one block. Source: PTX ISA 9.0
// #control-flow-instructions, #parallel-synchronization-and-communication-instructions-bar.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "machine.h"

namespace limen::oracle {

void Machine::go_to(Thread& t, Index label) {
  Frame& f = t.frames.back();
  f.block = f.code->label_block[label];
  f.at = 0;
}

bool Machine::control(Thread& t, const Instruction& i) {
  switch (i.op) {
    case Op::bra:
      go_to(t, i.ops[0].index);
      return true;
    case Op::brx: {
      const std::vector<Index>& targets = t.frames.back().code->branch_targets[i.target_list];
      const uint64_t n = read64(t, i, i.ops[0], Type::u32);
      if (n >= targets.size())
        return fail(t, i, fmt::format("has index {} of {} targets", n, targets.size())), true;
      go_to(t, targets[n]);
      return true;
    }
    case Op::call:
      call(t, i);
      return true;
    case Op::ret:
      if (t.frames.size() > 1)
        give_back(t);
      else
        leave(t);
      return true;
    case Op::exit:
      leave(t);
      return true;
    case Op::trap:
      return fail(t, i, "was reached"), true;
    default:
      return false;
  }
}

void Machine::call(Thread& t, const Instruction& i) {
  const Operand& target = i.ops[0];
  Index callee = target.index;
  if (target.kind == Operand::Kind::reg) {
    const uint64_t address = read64(t, i, target, Type::u64) - first_function_address;
    callee = static_cast<Index>(address / function_stride);
    if (address % function_stride || address / function_stride >= module_.functions.size()) {
      fail(t, i, "calls what is no function");
      return;
    }
  }
  const Function& f = module_.functions[callee];
  if (!f.has_body || f.is_entry) {
    fail(t, i, fmt::format("calls {}, which is not evaluated", f.name));
    return;
  }
  if (i.call_args.size() != f.params.size() || i.call_returns.size() != f.returns.size()) {
    fail(t, i, fmt::format("does not fit {}", f.name));
    return;
  }
  struct Value {
    const uint8_t* memory = nullptr;
    Wide bits = 0;
  };
  std::vector<Value> values;
  for (size_t n = 0; n < i.call_args.size(); ++n) {
    const Operand& o = i.call_args[n];
    Value v;
    if (o.kind == Operand::Kind::symbol)
      v.memory = reinterpret_cast<const uint8_t*>(symbol_address(t, i, o));
    else
      v.bits = read(t, i, o, f.params[n].type);
    values.push_back(v);
  }
  if (failed()) return;
  push_frame(t, callee, &i);
  if (failed()) return;
  Frame& frame = t.frames.back();
  for (size_t n = 0; n < values.size(); ++n) {
    const ptx::Param& p = f.params[n];
    if (p.space == Space::reg) {
      if (values[n].memory) std::memcpy(&values[n].bits, values[n].memory, ptx::size_of(p.type));
      Operand to;
      to.kind = Operand::Kind::reg;
      to.index = p.reg;
      write(t, to, values[n].bits);
      continue;
    }
    uint8_t* to = frame.params.get() + frame.layout->params[n];
    if (values[n].memory)
      std::memcpy(to, values[n].memory, p.bytes);
    else
      std::memcpy(to, &values[n].bits, std::min<uint64_t>(p.bytes, sizeof(Wide)));
  }
}

/// ret of a called function: results go to where the call says.
void Machine::give_back(Thread& t) {
  const Frame done = std::move(t.frames.back());
  t.frames.pop_back();
  const Instruction& i = *done.call;
  const Function& f = *done.code;
  for (size_t n = 0; n < f.returns.size(); ++n) {
    const ptx::Param& p = f.returns[n];
    const uint8_t* from = done.params.get() + done.layout->params[f.params.size() + n];
    Wide bits = 0;
    if (p.space == Space::reg) {
      bits = done.registers[done.layout->registers[p.reg]];
      from = reinterpret_cast<const uint8_t*>(&bits);
    }
    const Operand& to = i.call_returns[n];
    if (to.kind == Operand::Kind::symbol) {
      std::memcpy(reinterpret_cast<uint8_t*>(symbol_address(t, i, to)), from, p.bytes);
    } else {
      std::memcpy(&bits, from, ptx::size_of(p.type));
      write(t, to, bits);
    }
  }
  t.local_top = done.local_base;
}

void Machine::leave(Thread& t) {
  t.state = Thread::State::exited;
  Block& b = *t.block;
  b.exited[t.warp] |= 1u << t.lane;
  --b.alive;
  t.frames.resize(1);
  meet(b, t.warp);
  for (uint32_t id = 0; id < 16; ++id) check_barrier(b, id);
  check_cluster(b);
}

bool Machine::synchronise(Thread& t, const Instruction& i) {
  if (i.op == Op::bar && i.has(Tok::warp)) return warp(t, i);
  if (i.op == Op::griddepcontrol) return true;
  if (i.op != Op::bar && i.op != Op::barrier) return false;
  if (!i.has(Tok::cluster)) {
    arrive_at_barrier(t, i);
    return true;
  }
  if (i.has(Tok::arrive)) {
    t.cluster_phase = t.block->cluster_phase;
    ++t.block->cluster_arrived;
    check_cluster(*t.block);
  } else if (t.cluster_phase == t.block->cluster_phase) {
    t.waits = &i;
    t.state = Thread::State::cluster;
  }
  return true;
}

void Machine::check_cluster(Block& b) {
  if (!b.cluster_arrived || b.cluster_arrived < b.alive) return;
  b.cluster_arrived = 0;
  ++b.cluster_phase;
  for (Thread& t : b.threads)
    if (t.state == Thread::State::cluster) {
      t.state = Thread::State::running;
      t.waits = nullptr;
    }
}

void Machine::arrive_at_barrier(Thread& t, const Instruction& i) {
  Block& b = *t.block;
  const bool reduces = i.has(Tok::red);
  size_t at = reduces ? 1 : 0;
  const uint64_t id = read64(t, i, i.ops[at++], Type::u32);
  if (id >= 16) {
    fail(t, i, fmt::format("names barrier {}, there are 16", id));
    return;
  }
  const bool counted = i.ops.size() > at + (reduces ? 1 : 0);
  const uint32_t count = counted ? static_cast<uint32_t>(read64(t, i, i.ops[at++], Type::u32)) : 0;
  t.predicate = reduces && read_predicate(t, i, i.ops[at]);
  if (failed()) return;
  Barrier& barrier = b.barriers[id];
  if (counted && (count % 32 || !count)) {
    fail(t, i, fmt::format("waits for {} threads, which are no whole warps", count));
    return;
  }
  barrier.counted = counted;
  barrier.threads = count;
  barrier.arrived[t.warp] |= 1u << t.lane;
  barrier.participants += reduces;
  barrier.with_predicate += t.predicate;
  if (!i.has(Tok::arrive)) {
    t.waits = &i;
    t.barrier = static_cast<uint32_t>(id);
    t.state = Thread::State::barrier;
  }
  check_barrier(b, static_cast<uint32_t>(id));
}

void Machine::check_barrier(Block& b, uint32_t id) {
  Barrier& barrier = b.barriers[id];
  uint32_t arrived = 0;
  bool any = false;
  for (uint32_t w = 0; w < warps_; ++w) {
    if (barrier.arrived[w]) any = true;
    if (barrier.arrived[w] || !barrier.counted)
      arrived += static_cast<uint32_t>(std::popcount(barrier.arrived[w] | b.exited[w]));
  }
  // Lanes that never were are marked as exited: whole warps on both sides.
  if (!any || arrived < (barrier.counted ? barrier.threads : warps_ * 32)) return;
  const uint32_t yes = barrier.with_predicate, all = barrier.participants;
  std::fill(barrier.arrived.begin(), barrier.arrived.end(), 0);
  barrier.with_predicate = barrier.participants = 0;
  for (Thread& t : b.threads) {
    if (t.state != Thread::State::barrier || t.barrier != id) continue;
    const Instruction& i = *t.waits;
    t.state = Thread::State::running;
    t.waits = nullptr;
    if (!i.has(Tok::red)) continue;
    if (i.has(Tok::popc))
      write(t, i.ops[0], yes);
    else
      write(t, i.ops[0], i.has(Tok::and_) ? yes == all : yes != 0);
  }
}

}  // namespace limen::oracle
