// Reads off a function body what its strategy must provide: warp operations, barriers, spinning.
#include <algorithm>

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

/// Behind it a plain load reads memory anew.
bool orders_memory(const Instruction& inst) {
  return inst.op == Op::bar || inst.op == Op::barrier || inst.op == Op::membar ||
         inst.op == Op::fence;
}

/// A load of what another block may change, which says nothing of that.
bool is_plain_load(const Instruction& inst) {
  if (inst.op != Op::ld || inst.has(Tok::nc)) return false;
  const ptx::Space space = ptx::space_of(inst);
  return space == ptx::Space::global || space == ptx::Space::none;
}

bool weak_order(const Instruction& inst) {
  return !(inst.has(Tok::volatile_) || inst.has(Tok::relaxed) || inst.has(Tok::acquire) ||
           inst.has(Tok::mmio));
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
    each(loop, [&](const Instruction& i) { vote |= i.op == Op::vote; });
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

  /// Nodes that step some register of `values` on (a counter, a moving address): the loop does not
  /// stand still on a way through them. A step that is taken or not by a guard or a select is none.
  Bits stepping_nodes(const Loop& loop, const Bits& values) const {
    // Dataflow inside the loop that always happens.
    std::vector<std::vector<Index>> flows(graph_.registers);
    std::vector<Index> uses, defs;
    auto always = [](const Instruction& inst) {
      return inst.guard == ptx::no_index && inst.op != Op::selp && inst.op != Op::ld &&
             inst.op != Op::atom && inst.op != Op::call;
    };
    each(loop, [&](const Instruction& inst) {
      if (!always(inst)) return;
      uses_and_defs(graph_, inst, uses, defs);
      for (Index u : uses) flows[u].insert(flows[u].end(), defs.begin(), defs.end());
    });
    auto reaches = [&](Index from, const std::vector<Index>& targets) {
      Bits seen(graph_.registers);
      std::vector<Index> stack{from};
      seen.add(from);
      while (!stack.empty()) {
        const Index r = stack.back();
        stack.pop_back();
        if (std::find(targets.begin(), targets.end(), r) != targets.end()) return true;
        for (Index next : flows[r])
          if (!seen.has(next)) seen.add(next), stack.push_back(next);
      }
      return false;
    };
    Bits steps(graph_.nodes.size());
    loop.nodes.each([&](size_t n) {
      const Node& node = graph_.nodes[n];
      for (uint32_t i = node.begin; i < node.end && !steps.has(n); ++i) {
        const Instruction& inst = graph_.inst(node, i);
        if (!always(inst) || inst.op == Op::mov) continue;
        uses_and_defs(graph_, inst, uses, defs);
        const std::vector<Index> from = uses;
        for (Index d : std::vector<Index>(defs))
          if (values.has(d) && reaches(d, from)) steps.add(n);
      }
    });
    return steps;
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

  /// Registers written in the loop.
  Bits written_in(const Loop& loop) const {
    Bits written(graph_.registers);
    std::vector<Index> uses, defs;
    each(loop, [&](const Instruction& inst) {
      uses_and_defs(graph_, inst, uses, defs);
      for (Index d : defs)
        if (inst.op != Op::mov || inst.ops[1].kind == Operand::Kind::reg) written.add(d);
    });
    return written;
  }

  bool spins(const Region& region, const Loop& loop, uint32_t& line) const {
    const Bits leaving = branch_values(region, loop, true);
    const Bits branching = branch_values(region, loop, false);
    const Bits written = written_in(loop);
    std::vector<Index> uses, defs;
    bool spin = false, spills = false, reread = false;
    each(loop, [&](const Instruction& inst) {
      spills |= inst.op == Op::st && inst.has(Tok::local);
      reread |= orders_memory(inst);
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
        if (!may_wait(inst, written) && !(reread && is_plain_load(inst))) continue;
        uses_and_defs(graph_, inst, uses, defs);
        // What a call returns, and with debug code every value, comes by memory: not followed.
        const bool hidden = inst.op == Op::call || spills;
        if (!hidden &&
            std::none_of(defs.begin(), defs.end(), [&](Index d) { return branching.has(d); }))
          continue;
        Bits values = leaving;
        for (Index u : uses) values.add(u);
        close_backwards(loop, values);
        spin = goes_round(region, loop, static_cast<NodeId>(n), stepping_nodes(loop, values));
        if (spin) return;
      }
    });
    return spin;
  }

  /// Could this read the same place again and again until another thread changes it?
  bool may_wait(const Instruction& inst, const Bits& written) const {
    switch (inst.op) {
      case Op::call:
        return call_waits_ && call_waits_(inst);
      case Op::mbarrier:
        return inst.has(Tok::test_wait) || inst.has(Tok::try_wait);
      case Op::ld:
        return !weak_order(inst);
      case Op::atom:
        if (inst.has(Tok::cas))
          return inst.ops[2].kind != Operand::Kind::reg || !written.has(inst.ops[2].index);
        if (inst.has(Tok::exch)) return true;
        if (inst.has(Tok::add) || inst.has(Tok::or_)) return is_constant(inst.ops[2], 0);
        return inst.has(Tok::and_) && is_constant(inst.ops[2], -1);
      default:
        return false;
    }
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
