// Instructions at which threads of a warp meet. A `.sync` one waits until every lane of its member
// mask that has not exited is at an instruction of the same kind and mask, wherever in the program;
// then all get their result. Those without a mask (activemask, shfl and vote of old) take whoever
// of the warp comes to the same instruction before nobody else of the warp can run. Source: PTX
// ISA 9.0 #parallel-synchronization-and-communication-instructions.
#include <fmt/format.h>

#include <bit>

#include "machine.h"

namespace limen::oracle {
namespace {

constexpr uint32_t patience = 200;  ///< turns that a gathering waits for lanes that run elsewhere

bool same_kind(const Instruction& a, const Instruction& b) {
  return a.op == b.op && a.mods.bits == b.mods.bits && a.types == b.types;
}

/// The operand that holds the member mask, or nullptr.
const Operand* member_operand(const Instruction& i) {
  const bool warp_barrier = i.op == Op::bar && i.has(Tok::warp);
  if (!i.has(Tok::sync) && i.op != Op::elect) return nullptr;
  return warp_barrier ? &i.ops[0] : &i.ops.back();
}

}  // namespace

bool Machine::warp(Thread& t, const Instruction& i) {
  const Operand* member = member_operand(i);
  t.waits = &i;
  t.value = t.extra = 0;
  switch (i.op) {
    case Op::shfl:
      t.value = read64(t, i, i.ops[1], Type::b32);
      t.extra = read64(t, i, i.ops[2], Type::b32) << 32 | read64(t, i, i.ops[3], Type::b32);
      break;
    case Op::vote:
      t.value = read_predicate(t, i, i.ops[1]);
      break;
    case Op::match:
    case Op::redux:
      if (has_format(i.type())) return false;
      t.value = read64(t, i, i.ops[1], i.type());
      break;
    case Op::activemask:
    case Op::elect:
    case Op::bar:
      break;
    default:
      return false;
  }
  if (!member) {
    t.state = Thread::State::gathering;
    t.rounds = 0;
    return true;
  }
  t.member = static_cast<uint32_t>(read64(t, i, *member, Type::b32));
  if (failed()) return true;
  if (!(t.member >> t.lane & 1)) return fail(t, i, "has a member mask without its own lane"), true;
  t.state = Thread::State::meeting;
  meet(*t.block, t.warp);
  return true;
}

/// Completes every meeting of the warp whose members are all there.
void Machine::meet(Block& block, uint32_t warp) {
  const uint32_t first = warp * 32, end = std::min(first + 32, threads_);
  for (uint32_t n = first; n < end; ++n) {
    Thread& t = block.threads[n];
    if (t.state != Thread::State::meeting) continue;
    uint32_t there = 0;
    for (uint32_t m = first; m < end; ++m) {
      const Thread& other = block.threads[m];
      if (other.state == Thread::State::meeting && other.member == t.member &&
          same_kind(*other.waits, *t.waits))
        there |= 1u << other.lane;
    }
    const uint32_t wanted = t.member & ~block.exited[warp];
    if ((there & wanted) == wanted) complete_meeting(block, t, there & wanted);
  }
}

void Machine::complete_meeting(Block& block, const Thread& first, uint32_t lanes) {
  const uint32_t warp = first.warp;
  // Every result is computed from what was handed in, so the order of lanes does not matter.
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1) {
      Thread& t = lane_of(block, warp, lane);
      give_result(t, *t.waits, block, lanes);
    }
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1) {
      Thread& t = lane_of(block, warp, lane);
      t.state = Thread::State::running;
      t.waits = nullptr;
    }
}

void Machine::gather(Block& block) {
  for (uint32_t warp = 0; warp < warps_; ++warp) {
    const uint32_t first = warp * 32, end = std::min(first + 32, threads_);
    bool others_run = false, patient = true;
    const Thread* lowest = nullptr;
    for (uint32_t n = first; n < end; ++n) {
      Thread& t = block.threads[n];
      others_run = others_run || t.state == Thread::State::running;
      if (t.state != Thread::State::gathering) continue;
      if (!lowest) lowest = &t;
      if (++t.rounds > patience) patient = false;
    }
    if (!lowest || (others_run && patient)) continue;
    uint32_t lanes = 0;
    for (uint32_t n = first; n < end; ++n)
      if (block.threads[n].state == Thread::State::gathering &&
          block.threads[n].waits == lowest->waits)
        lanes |= 1u << (n - first);
    complete_meeting(block, *lowest, lanes);
  }
}

void Machine::give_result(Thread& t, const Instruction& i, Block& block, uint32_t lanes) {
  switch (i.op) {
    case Op::shfl:
      give_shuffle(t, i, block, lanes);
      break;
    case Op::vote:
      give_vote(t, i, block, lanes);
      break;
    case Op::match:
      give_match(t, i, block, lanes);
      break;
    case Op::redux:
      give_redux(t, i, block, lanes);
      break;
    case Op::activemask:
      write(t, i.ops[0], lanes);
      break;
    case Op::elect: {
      const uint32_t leader = static_cast<uint32_t>(std::countr_zero(lanes));
      write(t, i.ops[0].elems[0], leader);
      write(t, i.ops[0].elems[1], t.lane == leader);
      break;
    }
    default:
      break;
  }
}

void Machine::give_shuffle(Thread& t, const Instruction& i, Block& block, uint32_t lanes) {
  const int lane = static_cast<int>(t.lane);
  const int b = static_cast<int>(t.extra >> 32 & 31), clamp = static_cast<int>(t.extra & 31);
  const int segment = static_cast<int>(t.extra >> 8 & 31);
  const int highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
  int from;
  if (i.has(Tok::up))
    from = lane - b;
  else if (i.has(Tok::down))
    from = lane + b;
  else if (i.has(Tok::bfly))
    from = lane ^ b;
  else
    from = lowest | (b & ~segment);
  const bool in_range = i.has(Tok::up) ? from >= highest : from <= highest;
  if (!in_range) from = lane;
  if (!(lanes >> from & 1) && launch_.strict) {
    fail(t, i, fmt::format("reads lane {}, which does not take part", from));
    return;
  }
  const uint64_t v =
      lanes >> from & 1 ? lane_of(block, t.warp, static_cast<uint32_t>(from)).value : 0;
  const bool pair = i.ops[0].kind == Operand::Kind::pair;
  write(t, pair ? i.ops[0].elems[0] : i.ops[0], v);
  if (pair) write(t, i.ops[0].elems[1], in_range);
}

void Machine::give_vote(Thread& t, const Instruction& i, Block& block, uint32_t lanes) {
  uint32_t yes = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if ((lanes >> lane & 1) && lane_of(block, t.warp, lane).value) yes |= 1u << lane;
  if (i.has(Tok::ballot))
    write(t, i.ops[0], yes);
  else if (i.has(Tok::all))
    write(t, i.ops[0], yes == lanes);
  else if (i.has(Tok::any))
    write(t, i.ops[0], yes != 0);
  else
    write(t, i.ops[0], yes == lanes || yes == 0);
}

void Machine::give_match(Thread& t, const Instruction& i, Block& block, uint32_t lanes) {
  uint32_t same = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if ((lanes >> lane & 1) && lane_of(block, t.warp, lane).value == t.value) same |= 1u << lane;
  if (i.has(Tok::any)) {
    write(t, i.ops[0], same);
    return;
  }
  const bool pair = i.ops[0].kind == Operand::Kind::pair;
  write(t, pair ? i.ops[0].elems[0] : i.ops[0], same == lanes ? lanes : 0);
  if (pair) write(t, i.ops[0].elems[1], same == lanes);
}

void Machine::give_redux(Thread& t, const Instruction& i, Block& block, uint32_t lanes) {
  bool first = true;
  __int128 out = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    const __int128 v = extend(i.type(), lane_of(block, t.warp, lane).value);
    if (first)
      out = v;
    else if (i.has(Tok::add))
      out += v;
    else if (i.has(Tok::min))
      out = std::min(out, v);
    else if (i.has(Tok::max))
      out = std::max(out, v);
    else if (i.has(Tok::and_))
      out &= v;
    else if (i.has(Tok::or_))
      out |= v;
    else
      out ^= v;
    first = false;
  }
  write(t, i.ops[0], static_cast<Wide>(out));
}

}  // namespace limen::oracle
