// Which waits a warp may do as one fiber. Under the fiber strategy the lanes that do not wait
// (those at the place where a branch's arms meet, those that have left the loop) stand still until
// the waiting ones go on. That is right if all live lanes wait together, or if one lane waits alone
// and the others can do nothing that anybody sees before the block's next barrier, which needs the
// waiting lane too. Anything else runs lane by lane. Pure analysis.
#include "compiler/simt/plan.h"

namespace limen::simt {

using ptx::Index;
using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;

namespace {

/// Something another thread may see, or that may do such a thing.
bool is_visible(const Instruction& inst) {
  switch (inst.op) {
    case Op::st:
      return !inst.has(Tok::local);
    case Op::atom:
    case Op::red:
    case Op::call:
    case Op::cp:
    case Op::tensormap:
    case Op::mbarrier:
    case Op::bar:
    case Op::barrier:
    case Op::trap:
    case Op::multimem:
    case Op::clusterlaunchcontrol:
      return true;
    default:
      return false;
  }
}

class WaitChecker {
 public:
  WaitChecker(const Plan& plan, std::string& why)
      : plan_(plan), why_(why), rp_(plan.regions[0]), graph_(plan.graph) {
    definitions_.assign(graph_.registers, nullptr);
    std::vector<uint32_t> count(graph_.registers, 0);
    std::vector<Index> uses, defs;
    for (const auto& block : graph_.function->blocks)
      for (const Instruction& inst : block.body) {
        uses_and_defs(graph_, inst, uses, defs);
        for (Index d : defs) definitions_[d] = ++count[d] == 1 ? &inst : nullptr;
      }
  }

  bool run() {
    if (plan_.waits.anywhere) return fail("irreducible control flow", 0);
    for (const Loop& loop : plan_.waits.loops)
      if (!check(loop.nodes)) return false;
    return true;
  }

 private:
  bool fail(const char* what, NodeId node) {
    why_ = what;
    if (const Instruction* last = graph_.last(graph_.nodes[node]))
      why_ += ", line " + std::to_string(last->line);
    return false;
  }

  bool check(const Bits& loop) {
    bool masked = false;
    NodeId first = no_node;
    loop.each([&](size_t n) {
      masked |= rp_.masked.has(n);
      const auto node = static_cast<NodeId>(n);
      if (first == no_node || rp_.region.position[node] < rp_.region.position[first]) first = node;
    });
    if (!masked) return true;
    bool alone = false;
    for (NodeId x : rp_.region.order) {
      if (loop.has(x) || !diverges(plan_, rp_.region, x)) continue;
      const auto& arms = rp_.region.succ[x];
      const NodeId meet = rp_.region.ipdom[x];
      for (size_t i = 0; i < arms.size(); ++i) {
        const Bits inside = reach(rp_.region, arms[i], meet);
        if (!inside.has(first)) continue;
        bool only_way = true;  // lanes of the other arms do not come to the loop
        for (size_t j = 0; j < arms.size(); ++j) {
          if (j == i) continue;
          const Bits other = reach(rp_.region, arms[j], meet);
          only_way &= !other.has(first);
          if (!is_quiet(other, inside, first)) return fail("other lanes act while one waits", x);
        }
        alone |= only_way && arms.size() == 2 && goes_alone(x, arms[i]);
        if (meet != no_node && !quiet_until_barrier(meet))
          return fail("other lanes may go on while one waits", x);
      }
    }
    return alone || fail("lanes of a warp may wait for each other", first);
  }

  /// Nodes of an arm that are not of the waiting lane's arm too: lanes there wait or come later.
  bool is_quiet(const Bits& arm, const Bits& waiting, NodeId first) const {
    bool quiet = true;
    arm.each([&](size_t n) {
      const auto node = static_cast<NodeId>(n);
      if (waiting.has(n) && rp_.region.position[node] > rp_.region.position[first]) {
        quiet &= !any_visible(node);
        return;
      }
      if (!waiting.has(n)) quiet &= !any_visible(node);
    });
    return quiet;
  }

  bool any_visible(NodeId node) const {
    const Node& n = graph_.nodes[node];
    for (uint32_t i = n.begin; i < n.end; ++i)
      if (is_visible(graph_.inst(n, i))) return true;
    return false;
  }

  bool quiet_until_barrier(NodeId from) const {
    Bits seen(graph_.nodes.size());
    std::vector<NodeId> work{from};
    seen.add(from);
    while (!work.empty()) {
      const NodeId u = work.back();
      work.pop_back();
      const Node& node = graph_.nodes[u];
      bool stopped = false;
      for (uint32_t i = node.begin; i < node.end && !stopped; ++i) {
        const Instruction& inst = graph_.inst(node, i);
        if (needs_whole_block(inst))
          stopped = true;
        else if (is_visible(inst))
          return false;
      }
      if (stopped) continue;
      for (NodeId s : rp_.region.succ[u])
        if (!seen.has(s)) seen.add(s), work.push_back(s);
    }
    return true;
  }

  /// Does at most one lane of a warp take the way from `x` to `arm`?
  bool goes_alone(NodeId x, NodeId arm) const {
    const Node& node = graph_.nodes[x];
    if (node.leave != Leave::cond || node.succ[0] == node.succ[1]) return false;
    const Instruction& last = *graph_.last(node);
    const bool taken = node.succ[0] == arm;
    return one_lane(last.guard, taken != last.guard_negated, 0);
  }

  /// Is predicate `p` equal to `value` in at most one lane of a warp?
  bool one_lane(Index p, bool value, int depth) const {
    const Instruction* inst = definitions_[p];
    if (inst == nullptr || depth > 8 || inst->guard != ptx::no_index) return false;
    auto either = [&](size_t i) {
      const Operand& o = inst->ops[i];
      return o.kind == Operand::Kind::reg && one_lane(o.index, value != o.negated, depth + 1);
    };
    switch (inst->op) {
      case Op::elect:
        return value;
      case Op::not_:
        return inst->ops[1].kind == Operand::Kind::reg &&
               one_lane(inst->ops[1].index, !value, depth + 1);
      case Op::and_:
        return value && (either(1) || either(2));
      case Op::or_:
        return !value && (either(1) || either(2));
      case Op::setp:
        break;
      default:
        return false;
    }
    if (inst->ops[0].kind != Operand::Kind::reg || ptx::is_float(inst->type())) return false;
    const bool plain = inst->ops.size() == 3;
    if (value ? !(inst->has(Tok::eq) && (plain || inst->has(Tok::and_)))
              : !(inst->has(Tok::ne) && (plain || inst->has(Tok::or_))))
      return false;
    return differs_by_lane(inst->ops[1], inst->ops[2]) ||
           differs_by_lane(inst->ops[2], inst->ops[1]);
  }

  /// `a` is another number in every lane, `b` the same in all.
  bool differs_by_lane(const Operand& a, const Operand& b) const {
    const ptx::Function& fn = *graph_.function;
    const Shape own = shape_of_operand(a, plan_.shapes, plan_.launch, fn, 32);
    const Shape other = shape_of_operand(b, plan_.shapes, plan_.launch, fn, 32);
    if (!own.shaped() || own.guarded || !other.uniform() || other.guarded) return false;
    for (size_t i = 0; i < own.offsets.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if ((own.offsets[i] & 0xffff) == (own.offsets[j] & 0xffff)) return false;
    return own.offsets.size() == plan_.launch.width;
  }

  const Plan& plan_;
  std::string& why_;
  const RegionPlan& rp_;
  const Graph& graph_;
  std::vector<const Instruction*> definitions_;  ///< by register: its one write, or nullptr
};

}  // namespace

bool waits_as_warp(const Plan& plan, std::string& why) { return WaitChecker(plan, why).run(); }

}  // namespace limen::simt
