// Reads off a function body what its strategy must provide: warp operations, barriers, spinning.
#include <algorithm>
#include <optional>

#include "compiler/ptx/table.h"
#include "compiler/simt/plan.h"

namespace limen::simt {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;
using ptx::Type;

namespace {

bool is_constant(const Operand& o, int64_t value) {
  return o.kind == Operand::Kind::imm && !o.imm_is_float && o.bits == value;
}

/// Behind it a plain load reads memory anew. (Behind a barrier it does not on an H200, whose L1
/// caches are not told: a program that waits so hangs there.)
bool is_fence(const Instruction& inst) { return inst.op == Op::membar || inst.op == Op::fence; }

/// A load of what another block may change, which says nothing of that.
bool is_plain_load(const Instruction& inst) {
  if (inst.op != Op::ld || inst.has(Tok::nc)) return false;
  const ptx::Space space = ptx::space_of(inst);
  return space == ptx::Space::global || space == ptx::Space::none;
}

/// `.cv` and `.cg` are no orders, but ask memory anew, which is what waiting code wants of them.
bool weak_order(const Instruction& inst) {
  return !(inst.has(Tok::volatile_) || inst.has(Tok::relaxed) || inst.has(Tok::acquire) ||
           inst.has(Tok::mmio) || inst.has(Tok::cv) || inst.has(Tok::cg));
}

/// Finds loops that wait for another thread: their exit depends on a value that only somebody else
/// can change. Lock-free retries (compare-and-swap of what was just read, counters) are not spins.
class SpinFinder {
 public:
  SpinFinder(const Graph& graph, const CallWaits& call_waits)
      : graph_(graph), call_waits_(call_waits) {}

  bool find(const Region& region, std::string& reason, bool& all_uniform) {
    bool found = false;
    for (const Loop& loop : region.loops) {
      uint32_t line = 0;
      if (!spins(region, loop, line)) continue;
      found = true;
      waits.loops.push_back(loop);
      all_uniform &= votes(loop);
      reason = "waits for another thread in the loop at line " + std::to_string(line);
    }
    if (!region.reducible) {
      waits.anywhere = true;
      // Without loops to look at, any volatile read or atomic may be a wait.
      for (const auto& block : graph_.function->blocks)
        for (const auto& inst : block.body)
          if (inst.op == Op::atom || (inst.op == Op::ld && !weak_order(inst))) {
            reason = "irreducible control flow with atomics";
            all_uniform = false;
            found = true;
          }
    }
    return found;
  }

  Waits waits;

 private:
  template <typename F>
  void each(const Loop& loop, F&& f) const {
    loop.nodes.each([&](size_t n) {
      const Node& node = graph_.nodes[n];
      for (uint32_t i = node.begin; i < node.end; ++i) f(graph_.inst(node, i));
    });
  }

  bool votes(const Loop& loop) const {
    bool vote = false;
    each(loop, [&](const Instruction& i) {
      // One of some lanes only does not bring the warp together.
      vote |= i.op == Op::vote && (!i.has(Tok::sync) || is_constant(i.ops.back(), -1) ||
                                   is_constant(i.ops.back(), 0xffffffff));
    });
    return vote;
  }

  /// Registers from which `want` follows inside the loop. A value out of memory stops the walk: its
  /// address does not decide.
  void close_backwards(const Loop& loop, Bits& want) const {
    std::vector<Index> uses, defs;
    std::vector<const Instruction*> body;
    each(loop, [&](const Instruction& inst) {
      if (inst.op != Op::ld && inst.op != Op::atom) body.push_back(&inst);
    });
    // From the last to the first: values come from above, so few rounds are needed.
    for (bool grew = true; grew;) {
      grew = false;
      for (size_t i = body.size(); i-- > 0;) {
        uses_and_defs(graph_, *body[i], uses, defs);
        if (std::none_of(defs.begin(), defs.end(), [&](Index d) { return want.has(d); })) continue;
        for (Index u : uses)
          if (!want.has(u)) want.add(u), grew = true;
      }
    }
  }

  /// What the branches of the loop look at; `leaving_only`: those that leave it or start it again.
  Bits branch_values(const Region& region, const Loop& loop, bool leaving_only) const {
    Bits want(graph_.registers);
    loop.nodes.each([&](size_t n) {
      const Node& node = graph_.nodes[n];
      bool leaves = node.leave == Leave::cond_ret || !leaving_only;
      // Back edges count: two loops may share one header (a retry inside a counted loop).
      for (NodeId s : region.succ[n]) leaves |= !loop.nodes.has(s) || s == loop.header;
      if (const Instruction* last = graph_.last(node);
          leaves && last && last->guard != ptx::no_index)
        want.add(last->guard);
    });
    close_backwards(loop, want);
    return want;
  }

  /// A node that steps a register on.
  struct Step {
    NodeId node;
    Index of;
  };

  /// Where the loop steps registers on (counters, moving addresses). No step: what a guard or a
  /// select may leave out, what adds a value out of memory (it may be 0), what goes round in a ring
  /// or starts again in the loop.
  std::vector<Step> steps_in(const Loop& loop) const {
    std::vector<std::vector<Index>> flows(graph_.registers);
    std::vector<Index> uses, defs;
    Bits from_memory(graph_.registers);
    each(loop, [&](const Instruction& inst) {
      uses_and_defs(graph_, inst, uses, defs);
      if ((inst.op == Op::ld && !inst.has(Tok::param)) || inst.op == Op::atom)
        for (Index d : defs) from_memory.add(d);
      if (!keeps_moving(inst)) return;
      for (Index u : uses) flows[u].insert(flows[u].end(), defs.begin(), defs.end());
    });
    // A register that follows from itself is in one circle with what it follows from.
    const std::vector<uint32_t> circle = circles(flows);
    const auto feeds = [&](const Instruction& inst, Index d) {
      if (!keeps_moving(inst)) return false;
      return std::any_of(uses.begin(), uses.end(), [&](Index u) { return circle[u] == circle[d]; });
    };
    Bits restarts(graph_.registers);
    each(loop, [&](const Instruction& inst) {
      uses_and_defs(graph_, inst, uses, defs);
      for (Index d : defs)
        if (!feeds(inst, d)) restarts.add(d);
    });
    std::vector<Step> steps;
    loop.nodes.each([&](size_t n) {
      const Node& node = graph_.nodes[n];
      for (uint32_t i = node.begin; i < node.end; ++i) {
        const Instruction& inst = graph_.inst(node, i);
        if (inst.op == Op::mov) continue;
        uses_and_defs(graph_, inst, uses, defs);
        const bool adds_data =
            std::any_of(uses.begin(), uses.end(), [&](Index u) { return from_memory.has(u); });
        for (Index d : defs)
          if (!adds_data && !restarts.has(d) && feeds(inst, d))
            steps.push_back({static_cast<NodeId>(n), d});
      }
    });
    return steps;
  }

  Bits stepping_nodes(const std::vector<Step>& steps, const Bits& values) const {
    Bits nodes(graph_.nodes.size());
    for (const Step& step : steps)
      if (values.has(step.of)) nodes.add(step.node);
    return nodes;
  }

  /// By register: a number that it shares with those it both leads to and follows from.
  static std::vector<uint32_t> circles(const std::vector<std::vector<Index>>& flows) {
    const auto count = static_cast<uint32_t>(flows.size());
    constexpr uint32_t none = UINT32_MAX;
    std::vector<uint32_t> number(count, none), low(count), circle(count, none);
    std::vector<Index> open;
    std::vector<std::pair<Index, size_t>> calls;  // Tarjan's walk, with a stack of its own
    uint32_t next = 0;
    for (Index root = 0; root < count; ++root) {
      if (number[root] != none) continue;
      calls.push_back({root, 0});
      while (!calls.empty()) {
        auto& [r, edge] = calls.back();
        if (edge == 0) {
          number[r] = low[r] = next++;
          open.push_back(r);
        }
        if (edge < flows[r].size()) {
          const Index to = flows[r][edge++];
          if (number[to] == none)
            calls.push_back({to, 0});
          else if (circle[to] == none)
            low[r] = std::min(low[r], number[to]);
          continue;
        }
        const Index done = r;
        if (low[done] == number[done])
          for (bool last = false; !last;) {
            last = open.back() == done;
            circle[open.back()] = done;
            open.pop_back();
          }
        calls.pop_back();
        if (!calls.empty()) low[calls.back().first] = std::min(low[calls.back().first], low[done]);
      }
    }
    return circle;
  }

  /// Does its result move where its operands do, always?
  static bool keeps_moving(const Instruction& inst) {
    if (inst.guard != ptx::no_index) return false;
    switch (inst.op) {
      case Op::selp:
      case Op::ld:
      case Op::atom:
      case Op::call:
      case Op::rem:
      case Op::and_:
      case Op::lop3:
      case Op::bfe:
      case Op::min:
      case Op::max:
        return false;
      default:
        return true;
    }
  }

  /// Can `loop` go round through `at` without passing a node of `without`?
  bool goes_round(const Region& region, const Loop& loop, NodeId at, const Bits& without) const {
    if (without.has(at) || without.has(loop.header)) return false;
    auto leads = [&](NodeId from, NodeId to) {
      Bits seen(graph_.nodes.size());
      std::vector<NodeId> stack{from};
      while (!stack.empty()) {
        const NodeId n = stack.back();
        stack.pop_back();
        for (NodeId s : region.succ[n]) {
          if (s == to) return true;
          if (!loop.nodes.has(s) || without.has(s) || seen.has(s)) continue;
          seen.add(s);
          stack.push_back(s);
        }
      }
      return false;
    };
    return (at == loop.header || leads(loop.header, at)) && leads(at, loop.header);
  }

  /// By register: its only write in the loop; `many` where there are several.
  struct Writes {
    std::vector<const Instruction*> only;
    Bits many;
  };
  Writes writes_in(const Loop& loop) const {
    Writes w{std::vector<const Instruction*>(graph_.registers, nullptr), Bits(graph_.registers)};
    std::vector<Index> uses, defs;
    each(loop, [&](const Instruction& inst) {
      uses_and_defs(graph_, inst, uses, defs);
      for (Index d : defs) {
        if (w.only[d] != nullptr) w.many.add(d);
        w.only[d] = &inst;
      }
    });
    return w;
  }

  /// Has the register the same value in each round of the loop?
  bool stands_still(Index r, const Writes& writes, int depth) const {
    const Instruction* write = writes.only[r];
    if (write == nullptr) return true;
    if (depth > 16 || writes.many.has(r) || write->guard != ptx::no_index) return false;
    if (write->op == Op::ld || write->op == Op::atom || write->op == Op::call) return false;
    std::vector<Index> uses, defs;
    uses_and_defs(graph_, *write, uses, defs);
    return std::all_of(uses.begin(), uses.end(),
                       [&](Index u) { return stands_still(u, writes, depth + 1); });
  }

  /// Does a call get the same arguments in each round? (By `st.param`, whichever call of the loop
  /// those are for, or in registers.)
  bool gets_the_same(const Loop& loop, const Instruction& call, const Writes& writes) const {
    std::vector<Index> uses, defs;
    bool same = true;
    const auto look = [&](const Instruction& inst) {
      uses_and_defs(graph_, inst, uses, defs);
      for (Index u : uses) same &= stands_still(u, writes, 0);
    };
    look(call);
    each(loop, [&](const Instruction& inst) {
      if (inst.op == Op::st && inst.has(Tok::param)) look(inst);
    });
    return same;
  }

  /// Does it look at one place all the time?
  bool looks_at_one_place(const Instruction& inst, const Writes& writes) const {
    if ((inst.op != Op::ld && inst.op != Op::atom) || inst.ops.size() < 2) return false;
    const Operand& at = inst.ops[1];
    return at.kind == Operand::Kind::address &&
           (at.symbol_kind != Operand::SymbolKind::none || at.index == ptx::no_index ||
            stands_still(at.index, writes, 0));
  }

  bool spins(const Region& region, const Loop& loop, uint32_t& line) const {
    const Bits leaving = branch_values(region, loop, true);
    const Bits branching = branch_values(region, loop, false);
    const Writes writes = writes_in(loop);
    std::optional<std::vector<Step>> steps;
    std::vector<Index> uses, defs;
    bool spin = false, spills = false, reread = false, shares = false, barrier = false;
    uint32_t additions = 0;
    each(loop, [&](const Instruction& inst) {
      spills |= inst.op == Op::st && inst.has(Tok::local);
      shares |= inst.op == Op::st && inst.has(Tok::shared);
      barrier |= is_block_barrier(inst);
      reread |= is_fence(inst);
      additions += (inst.op == Op::atom || inst.op == Op::red) && inst.has(Tok::add);
    });
    loop.nodes.each([&](size_t n) {
      const Node& node = graph_.nodes[n];
      for (uint32_t i = node.begin; i < node.end && !spin; ++i) {
        const Instruction& inst = graph_.inst(node, i);
        line = inst.line;
        if (inst.op == Op::nanosleep) {
          spin = true;
          return;
        }
        const bool watches = may_watch(loop, inst);
        if (!watches && !takes(inst, additions > 1) && !(reread && is_plain_load(inst))) continue;
        uses_and_defs(graph_, inst, uses, defs);
        // What a call returns, with debug code every value, and what one thread tells the block,
        // comes by memory: not followed.
        const bool hidden = inst.op == Op::call || spills || (shares && barrier);
        if (!hidden &&
            std::none_of(defs.begin(), defs.end(), [&](Index d) { return branching.has(d); }))
          continue;
        Bits values = leaving;
        const bool same = inst.op == Op::call ? !spills && gets_the_same(loop, inst, writes)
                                              : !hidden && looks_at_one_place(inst, writes);
        if (watches && same) {
          spin = true;  // also where a counter ends the wait some time
          return;
        }
        for (Index u : uses) values.add(u);
        close_backwards(loop, values);
        if (!steps) steps = steps_in(loop);
        spin = goes_round(region, loop, static_cast<NodeId>(n), stepping_nodes(*steps, values));
        if (spin) return;
      }
    });
    return spin;
  }

  /// Could this read the same place again and again until another thread changes it?
  bool may_watch(const Loop& loop, const Instruction& inst) const {
    switch (inst.op) {
      case Op::call:
        return call_waits_ && call_waits_(inst);
      case Op::mbarrier:
        return inst.has(Tok::test_wait) || inst.has(Tok::try_wait);
      case Op::ld:
        return !weak_order(inst);
      case Op::atom:
        if (inst.has(Tok::cas)) return !expects_what_was_read(loop, inst.ops[2]);
        if (inst.has(Tok::exch)) return true;
        if (inst.has(Tok::add) || inst.has(Tok::or_)) return is_constant(inst.ops[2], 0);
        return inst.has(Tok::and_) && is_constant(inst.ops[2], -1);
      default:
        return false;
    }
  }

  /// An atomic whose result may say that it was in vain (a lock's bit was set already, a counter
  /// was used up). An addition counts where another may take it back; a queue's counter is no wait.
  static bool takes(const Instruction& inst, bool taken_back) {
    if (inst.op != Op::atom) return false;
    if (inst.has(Tok::add)) return taken_back;
    for (Tok one : {Tok::or_, Tok::and_, Tok::xor_, Tok::min, Tok::max, Tok::inc, Tok::dec})
      if (inst.has(one)) return true;
    return false;
  }

  /// Is the operand just what the loop read, so that the exchange fails only when another thread
  /// has got on (a lock-free retry)? What is computed from it (without a lock's bit) is not.
  bool expects_what_was_read(const Loop& loop, const Operand& operand) const {
    if (operand.kind != Operand::Kind::reg) return false;
    Bits asked(graph_.registers);
    std::vector<Index> open{operand.index}, uses, defs;
    asked.add(operand.index);
    bool read = false;
    while (!open.empty()) {
      const Index r = open.back();
      open.pop_back();
      bool other = false;
      each(loop, [&](const Instruction& inst) {
        uses_and_defs(graph_, inst, uses, defs);
        if (std::find(defs.begin(), defs.end(), r) == defs.end()) return;
        if (inst.op == Op::ld || inst.op == Op::atom) {
          read = true;
        } else if (inst.op == Op::mov && !uses.empty()) {
          for (Index u : uses)
            if (!asked.has(u)) asked.add(u), open.push_back(u);
        } else {
          other = true;
        }
      });
      if (other) return false;
    }
    return read;
  }

  const Graph& graph_;
  const CallWaits& call_waits_;
};

void read_float_traits(const Instruction& inst, Traits& t) {
  // Narrower formats are computed in f32, where their subnormals must not be flushed.
  if (inst.op == Op::mma || inst.op == Op::wmma) t.all_ftz = false;
  for (uint8_t i = 0; i < inst.type_count; ++i) {
    switch (inst.types[i]) {
      case Type::f16:
      case Type::bf16:
      case Type::f16x2:
      case Type::bf16x2:
      case Type::e4m3x2:
      case Type::e5m2x2:
      case Type::ue8m0x2:
      case Type::tf32:
        t.all_ftz = false;
        break;
      default:
        break;
    }
  }
  switch (inst.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::fma:
    case Op::mad:
    case Op::div:
    case Op::min:
    case Op::max:
    case Op::abs:
    case Op::neg:
    case Op::rcp:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::setp:
    case Op::set:
    case Op::slct:
    case Op::cvt:
    case Op::ex2:
    case Op::lg2:
    case Op::sin:
    case Op::cos:
    case Op::tanh:
    case Op::mma:
    case Op::wmma:
      break;
    default:
      return;
  }
  for (uint8_t i = 0; i < inst.type_count; ++i) {
    if (inst.types[i] == Type::f64) t.float64 = true;
    if (inst.types[i] == Type::f32 || inst.types[i] == Type::f32x2) {
      if (inst.has(Tok::ftz))
        t.any_ftz = true;
      else
        t.all_ftz = false;
    }
  }
}

}  // namespace

Waits waits_of(const Graph& graph, const Region& region, const CallWaits& call_waits) {
  SpinFinder finder(graph, call_waits);
  std::string reason;
  bool uniform = true;
  finder.find(region, reason, uniform);
  return std::move(finder.waits);
}

bool reads_shared_state(const Instruction& inst) {
  return inst.op == Op::atom || inst.op == Op::mbarrier || (inst.op == Op::ld && !weak_order(inst));
}

Traits traits_of(const ptx::Function& function, const CallWaits& call_waits) {
  Traits t;
  for (const auto& block : function.blocks)
    for (const Instruction& inst : block.body) {
      read_float_traits(inst, t);
      switch (inst.op) {
        case Op::shfl:
        case Op::vote:
        case Op::match:
        case Op::redux:
        case Op::activemask:
        case Op::elect:
        case Op::mma:
        case Op::wmma:
        case Op::ldmatrix:
        case Op::stmatrix:
        case Op::movmatrix:
          t.warp_ops = true;
          break;
        case Op::bar:
        case Op::barrier:
          if (inst.has(Tok::warp)) {
            t.warp_ops = true;
            break;
          }
          t.barriers = true;
          if (inst.has(Tok::cluster)) {
            t.odd_barriers = true;
            t.reason = "barrier of a cluster on line " + std::to_string(inst.line);
            break;
          }
          {
            // bar.red: d, a{, b}, p; others: a{, b}. A count or a register barrier id is not plain.
            size_t first = inst.has(Tok::red) ? 1 : 0;
            size_t plain = inst.has(Tok::red) ? 3 : 1;
            if (inst.has(Tok::arrive) || inst.ops.size() > plain || inst.guard != ptx::no_index ||
                inst.ops.empty() || !is_constant(inst.ops[first], 0)) {
              t.odd_barriers = true;
              t.reason = "barrier with a count, name or guard on line " + std::to_string(inst.line);
            }
          }
          break;
        case Op::mbarrier:
          t.warp_ops = true;
          break;
        case Op::alloca:
          t.allocates = true;
          break;
        case Op::exit:
          if (!function.is_entry) t.exits = true;
          break;
        default:
          break;
      }
    }
  std::string reason;
  const Graph graph = build_graph(function, Cut::none);
  const Region region = build_region(graph, 0);
  if (SpinFinder(graph, call_waits).find(region, reason, t.uniform_spins_only)) {
    t.spins = true;
    t.reason = reason;
  }
  return t;
}

}  // namespace limen::simt
