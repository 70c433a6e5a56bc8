// Reads off a function body what its strategy must provide: warp operations, barriers, spinning.
#include <algorithm>

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

bool weak_order(const Instruction& inst) {
  return !(inst.has(Tok::volatile_) || inst.has(Tok::relaxed) || inst.has(Tok::acquire) ||
           inst.has(Tok::mmio));
}

/// Finds loops that wait for another thread: their exit depends on a value that only somebody else
/// can change. Lock-free retries (compare-and-swap of what was just read, counters) are not spins.
class SpinFinder {
 public:
  explicit SpinFinder(const ptx::Function& fn) : graph_(build_graph(fn, false)) {}

  bool find(std::string& reason, bool& all_uniform) {
    Region region = build_region(graph_, 0);
    bool found = false;
    for (const Loop& loop : region.loops) {
      uint32_t line = 0;
      if (!spins(region, loop, line)) continue;
      found = true;
      loops.push_back(loop.nodes);
      all_uniform &= votes(loop);
      reason = "waits for another thread in the loop at line " + std::to_string(line);
    }
    if (!region.reducible) {
      irreducible = true;
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

  std::vector<Bits> loops;
  bool irreducible = false;

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

  /// Registers that decide whether the loop is left, followed backwards inside it.
  Bits deciding(const Region& region, const Loop& loop) const {
    Bits want(graph_.registers);
    loop.nodes.each([&](size_t n) {
      const Node& node = graph_.nodes[n];
      bool leaves = node.leave == Leave::cond_ret;
      // Back edges count: two loops may share one header (a retry inside a counted loop).
      for (NodeId s : region.succ[n]) leaves |= !loop.nodes.has(s) || s == loop.header;
      if (const Instruction* last = graph_.last(node);
          leaves && last && last->guard != ptx::no_index)
        want.add(last->guard);
    });
    std::vector<Index> uses, defs;
    for (bool grew = true; grew;) {
      grew = false;
      each(loop, [&](const Instruction& inst) {
        uses_and_defs(graph_, inst, uses, defs);
        bool hit = std::any_of(defs.begin(), defs.end(), [&](Index d) { return want.has(d); });
        if (!hit) return;
        // A value out of memory stops the walk: its address does not decide.
        if (inst.op == Op::ld || inst.op == Op::atom) return;
        for (Index u : uses)
          if (!want.has(u)) want.add(u), grew = true;
      });
    }
    return want;
  }

  /// Registers whose value may differ between iterations. What is computed in the loop from values
  /// that do not change (a constant moved to a register, say) does not change either.
  Bits varying_in(const Loop& loop) const {
    Bits changed(graph_.registers);
    std::vector<uint32_t> count(graph_.registers, 0);
    std::vector<Index> uses, defs;
    each(loop, [&](const Instruction& inst) {
      uses_and_defs(graph_, inst, uses, defs);
      for (Index d : defs) changed.add(d), ++count[d];
    });
    for (bool again = true; again;) {
      again = false;
      each(loop, [&](const Instruction& inst) {
        switch (inst.op) {
          case Op::ld:
          case Op::atom:
          case Op::call:
          case Op::shfl:
          case Op::vote:
          case Op::match:
          case Op::redux:
          case Op::mbarrier:
            return;
          default:
            break;
        }
        uses_and_defs(graph_, inst, uses, defs);
        if (defs.size() != 1 || count[defs[0]] != 1 || !changed.has(defs[0])) return;
        for (Index u : uses)
          if (changed.has(u)) return;
        changed.remove(defs[0]);
        again = true;
      });
    }
    return changed;
  }

  bool spins(const Region& region, const Loop& loop, uint32_t& line) const {
    Bits want = deciding(region, loop);
    Bits changed = varying_in(loop);
    std::vector<Index> uses, defs;
    bool spin = false;
    each(loop, [&](const Instruction& inst) {
      if (inst.op == Op::nanosleep) spin = true, line = inst.line;
      if (inst.op != Op::ld && inst.op != Op::atom && inst.op != Op::mbarrier) return;
      uses_and_defs(graph_, inst, uses, defs);
      bool decides = std::any_of(defs.begin(), defs.end(), [&](Index d) { return want.has(d); });
      if (!decides || !waits(inst, changed)) return;
      spin = true;
      line = inst.line;
    });
    return spin;
  }

  static bool fixed(const Operand& o, const Bits& changed) {
    if (o.kind == Operand::Kind::reg) return !changed.has(o.index);
    if (o.kind == Operand::Kind::address && o.symbol_kind == Operand::SymbolKind::none &&
        o.index != ptx::no_index)
      return !changed.has(o.index);
    return true;
  }

  static bool waits(const Instruction& inst, const Bits& changed) {
    if (inst.op == Op::mbarrier) return inst.has(Tok::test_wait) || inst.has(Tok::try_wait);
    if (inst.op == Op::ld) return !weak_order(inst) && fixed(inst.ops[1], changed);
    if (!fixed(inst.ops[1], changed)) return false;
    if (inst.has(Tok::cas)) return fixed(inst.ops[2], changed);
    if (inst.has(Tok::exch)) return true;
    if (inst.has(Tok::add) || inst.has(Tok::or_)) return is_constant(inst.ops[2], 0);
    return inst.has(Tok::and_) && is_constant(inst.ops[2], -1);
  }

  Graph graph_;
};

void read_float_traits(const Instruction& inst, Traits& t) {
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
      break;
    default:
      return;
  }
  for (uint8_t i = 0; i < inst.type_count; ++i) {
    if (inst.types[i] == Type::f64) t.float64 = true;
    if (inst.types[i] == Type::f32) {
      if (inst.has(Tok::ftz))
        t.any_ftz = true;
      else
        t.all_ftz = false;
    }
    if (inst.types[i] == Type::f16 || inst.types[i] == Type::bf16) t.all_ftz = false;
  }
}

}  // namespace

bool waiting_loops(const ptx::Function& function, std::vector<Bits>& loops) {
  SpinFinder finder(function);
  std::string reason;
  bool uniform = true;
  finder.find(reason, uniform);
  loops = std::move(finder.loops);
  return !finder.irreducible;
}

Traits traits_of(const ptx::Function& function) {
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
  if (SpinFinder(function).find(reason, t.uniform_spins_only)) {
    t.spins = true;
    t.reason = reason;
  }
  return t;
}

}  // namespace limen::simt
