// See plan.h. The theory (what must be blended, when lanes wait where) is in docs/design/simt.md.
#include "compiler/simt/plan.h"

#include <algorithm>
#include <numeric>

#include "compiler/simt/independent.h"

namespace limen::simt {

using kernel::Strategy;
using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;
using ptx::Type;

namespace {

class Planner {
 public:
  Planner(Plan& plan, Progress progress, std::string& why)
      : plan_(plan), progress_(progress), why_(why), graph_(plan.graph) {}

  bool run(const CallWaits& call_waits) {
    if (!find_regions()) return false;
    if (plan_.strategy != Strategy::region)
      plan_.waits = waits_of(graph_, plan_.regions[0].region, call_waits);
    if (progress_ == Progress::everywhere) plan_.waits.loops = plan_.regions[0].region.loops;
    if (progress_ != Progress::together && plan_.waits.anywhere) {
      why_ = "irreducible control flow";
      return false;
    }
    forced_ = Bits(graph_.registers);
    for (;;) {
      solve_shapes();
      bool changed = false;
      for (RegionPlan& r : plan_.regions) {
        plan_masks(r);
        if (too_much_work() || !why_.empty()) return false;
        changed |= force_kept(r);
      }
      if (!changed) break;
    }
    for (RegionPlan& r : plan_.regions)
      if (!link_chains(r)) return false;
    if (plan_.strategy == Strategy::fiber && !check_fiber_barriers()) return false;
    return plan_.strategy != Strategy::region || check_barriers();
  }

 private:
  /// What waits for what grows with the cube of nested divergence. Code that no compiler writes
  /// falls back to lanes, which need none of this, instead of keeping the compiler busy for hours.
  bool too_much_work() {
    // Words merged and nodes visited: about half a second. CUB's sorts need 60,000.
    constexpr uint64_t most_work = uint64_t{1} << 28;
    if (work_ <= most_work) return false;
    why_ = "divergent control flow is too complex to analyse";
    return true;
  }

  bool find_regions() {
    plan_.region_after.assign(graph_.nodes.size(), no_node);
    std::vector<NodeId> entries{0};
    std::vector<uint32_t> of_entry(graph_.nodes.size(), no_node);
    of_entry[0] = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      // Every region has tables of its own.
      constexpr uint64_t most_bits = uint64_t{1} << 33;
      if ((i + 1) * uint64_t{graph_.nodes.size()} * (graph_.nodes.size() + graph_.registers) >
          most_bits) {
        why_ = "too many barriers for the size of the function";
        return false;
      }
      RegionPlan r;
      r.region = build_region(graph_, entries[i]);
      if (!r.region.reducible && !plan_.launch.scalar) {
        why_ = "control flow is irreducible";
        return false;
      }
      for (NodeId n : r.region.order) {
        if (graph_.nodes[n].leave != Leave::barrier) continue;
        NodeId after = graph_.nodes[n].succ[0];
        if (of_entry[after] == no_node) {
          of_entry[after] = static_cast<uint32_t>(entries.size());
          entries.push_back(after);
        }
        plan_.region_after[n] = of_entry[after];
      }
      plan_.regions.push_back(std::move(r));
    }
    return true;
  }

  // -- shapes ------------------------------------------------------------------------------------

  void solve_shapes() {
    const auto& fn = *graph_.function;
    auto& shapes = plan_.shapes;
    shapes.assign(graph_.registers, Shape{});
    forced_.each([&](size_t r) { shapes[r] = Shape::make_varying(); });
    if (plan_.launch.scalar) {
      shapes.assign(graph_.registers, Shape::make_uniform());
      return;
    }
    std::vector<uint8_t> changes(graph_.registers, 0);
    std::vector<Index> uses, defs;
    bool again = true, filled = false;
    while (again) {
      again = false;
      for (const auto& block : fn.blocks)
        for (const Instruction& inst : block.body) {
          uses_and_defs(graph_, inst, uses, defs);
          if (defs.empty()) continue;
          Shape s = transfer(inst, shapes, plan_.launch, fn);
          if (inst.guard != ptx::no_index) {
            const Shape& g = shapes[inst.guard];
            if (g.varying()) s = Shape::make_varying();
          }
          for (Index d : defs) {
            Shape own = adapt(inst, d, s);
            again |= update(d, own, changes[d]);
          }
        }
      if (!again && !filled) {
        // Registers never written hold whatever the caller cannot tell: one value will do.
        filled = true;
        for (Shape& s : shapes)
          if (s.kind == Shape::Kind::undef) s = Shape::make_uniform(), again = true;
      }
    }
  }

  /// Second destinations (shfl's predicate, setp's q, vector loads) take the plain form of the
  /// shape.
  Shape adapt(const Instruction& inst, Index d, const Shape& s) const {
    if (!s.shaped() || s.uniform()) {
      if (inst.op == Op::shfl && graph_.function->registers[d].type == Type::pred)
        return s.uniform() ? s : Shape::make_varying();
      return s;
    }
    // What is no number of bits modulo 2^n has no base and offsets (`mov.b32 %f, %r`).
    if (d == graph_.carry() || ptx::is_float(graph_.function->registers[d].type))
      return Shape::make_varying();
    return s;
  }

  bool update(Index d, const Shape& s, uint8_t& changes) {
    Shape& old = plan_.shapes[d];
    Shape next = join(old, s);
    if (next == old) return false;
    if (++changes > 4) {
      next.low = INT64_MIN, next.high = INT64_MAX;
      if (changes > 80) next = Shape::make_varying();
      if (next == old) return false;
    }
    if (changes == 255) changes = 254;
    old = next;
    return true;
  }

  // -- masks -------------------------------------------------------------------------------------

  Bits reach_from(const Region& r, NodeId from, NodeId stop) const {
    Bits seen = reach(r, from, stop);
    work_ += seen.count() + seen.words();
    return seen;
  }

  bool in_loop_of_header(const Region& r, NodeId header, NodeId n) const {
    for (const Loop& l : r.loops)
      if (l.header == header && l.nodes.has(n)) return true;
    return false;
  }

  void plan_masks(RegionPlan& rp) {
    const Region& r = rp.region;
    meets_ = r.ipdom;
    std::vector<NodeId> divergent = find_masked(rp);
    if (progress_ != Progress::together && meet_later(plan_, r, rp.masked, meets_))
      divergent = find_masked(rp);
    number_components(rp);
    rp.independent.assign(rp.component_end.size(), false);
    rp.waits = rp.syncs = Bits(graph_.nodes.size());
    if (progress_ != Progress::together) choose_independent(plan_, rp, why_);
    rp.keep.assign(graph_.nodes.size(), Bits(graph_.registers));
    for (NodeId x : divergent) {
      const NodeId meet = meeting_node(rp, x);
      std::vector<Bits> arms;
      for (NodeId s : r.succ[x]) arms.push_back(reach_from(r, s, meet));
      for (size_t i = 0; i < arms.size(); ++i)
        for (size_t j = 0; j < arms.size(); ++j)
          if (i != j) keep_for_waiting(rp, arms[i], arms[j], meet);
      if (too_much_work()) return;
    }
    if (progress_ != Progress::together) keep_for_independent(graph_, rp);
  }

  /// The divergent branches that have masked nodes behind them; notes those.
  std::vector<NodeId> find_masked(RegionPlan& rp) {
    const Region& r = rp.region;
    rp.masked = Bits(graph_.nodes.size());
    groups_.resize(graph_.nodes.size());
    std::iota(groups_.begin(), groups_.end(), 0);
    ends_.clear();
    std::vector<NodeId> divergent;
    for (NodeId x : r.order) {
      if (!diverges(plan_, r, x)) continue;
      NodeId first = no_node;
      for (NodeId s : r.succ[x])
        reach_from(r, s, meets_[x]).each([&](size_t b) {
          rp.masked.add(b);
          if (first == no_node) first = static_cast<NodeId>(b);
          unite(first, static_cast<NodeId>(b));
        });
      if (first == no_node) continue;
      divergent.push_back(x);
      ends_.push_back({first, meets_[x]});
    }
    return divergent;
  }

  /// Where x's lanes are all together again. Its post-dominator is that place if it is no masked
  /// node (it runs after the whole chain), or if it comes behind all of both arms in the chain.
  /// Otherwise (the way there leads through another round of the loop) they only meet at the
  /// component's end.
  NodeId meeting_node(const RegionPlan& rp, NodeId x) const {
    const Region& r = rp.region;
    const NodeId meet = meets_[x];
    if (meet == no_node || !rp.masked.has(meet)) return meet;
    bool forward = r.position[meet] > r.position[x];
    for (NodeId s : r.succ[x])
      reach_from(r, s, meet).each([&](size_t b) {
        forward &= r.position[b] > r.position[x] && r.position[b] < r.position[meet];
      });
    return forward ? meet : rp.component_end[rp.component[meet]];
  }

  /// While a node of `running` executes, lanes may wait at nodes of `waiting` and at `meet`.
  void keep_for_waiting(RegionPlan& rp, const Bits& running, const Bits& waiting, NodeId meet) {
    const Region& r = rp.region;
    const uint64_t words = graph_.live_in.empty() ? 0 : graph_.live_in[0].words();
    running.each([&](size_t b) {
      if (too_much_work()) return;
      const auto node = static_cast<NodeId>(b);
      if (meet != no_node) rp.keep[b].merge(graph_.live_in[meet]);
      waiting.each([&](size_t c) {
        if (c == b) return;
        const auto w = static_cast<NodeId>(c);
        work_ += 1 + r.loops.size();
        if (r.position[w] <= r.position[node] && !in_loop_of_header(r, w, node)) return;
        rp.keep[b].merge(graph_.live_in[w]);
        work_ += words;
      });
    });
  }

  NodeId find(NodeId x) {
    while (groups_[x] != x) x = groups_[x] = groups_[groups_[x]];
    return x;
  }
  void unite(NodeId a, NodeId b) { groups_[find(b)] = find(a); }

  void number_components(RegionPlan& rp) {
    rp.component.assign(graph_.nodes.size(), no_node);
    rp.component_end.clear();
    std::vector<uint32_t> number(graph_.nodes.size(), no_node);
    rp.masked.each([&](size_t b) {
      NodeId g = find(static_cast<NodeId>(b));
      if (number[g] == no_node) {
        number[g] = static_cast<uint32_t>(rp.component_end.size());
        rp.component_end.push_back(no_node);
      }
      rp.component[b] = number[g];
    });
    for (auto& [in, meet] : ends_) {
      uint32_t c = rp.component[in];
      if (meet == no_node || rp.component[meet] == c) continue;
      rp.component_end[c] = meet;
    }
  }

  /// A masked write of a register that waiting lanes still need makes it differ by lane.
  bool force_kept(RegionPlan& rp) {
    bool changed = false;
    std::vector<Index> uses, defs;
    rp.masked.each([&](size_t b) {
      const Node& node = graph_.nodes[b];
      for (uint32_t i = node.begin; i < node.end; ++i) {
        uses_and_defs(graph_, graph_.inst(node, i), uses, defs);
        for (Index d : defs)
          if (rp.keep[b].has(d) && !plan_.shapes[d].varying()) {
            forced_.add(d);
            changed = true;
          }
      }
    });
    return changed;
  }

  bool link_chains(RegionPlan& rp) {
    rp.next.assign(graph_.nodes.size(), no_node);
    std::vector<NodeId> last(rp.component_end.size(), no_node);
    for (NodeId n : rp.region.order) {
      uint32_t c = rp.component[n];
      if (c == no_node) continue;
      if (last[c] != no_node) rp.next[last[c]] = n;
      last[c] = n;
      rp.masked_barrier |= graph_.nodes[n].leave == Leave::barrier;
      for (NodeId s : rp.region.succ[n])
        if (rp.component[s] != c && s != rp.component_end[c]) {
          why_ = "unstructured control flow";
          return false;
        }
    }
    return true;
  }

  bool check_barriers() {
    for (const RegionPlan& rp : plan_.regions)
      for (NodeId n : rp.region.order)
        if (rp.masked.has(n) && graph_.nodes[n].leave == Leave::barrier) {
          const Instruction& inst = *graph_.last(graph_.nodes[n]);
          if (inst.op == Op::barrier && !inst.has(Tok::aligned)) {
            why_ = "barrier.sync in divergent control flow, line " + std::to_string(inst.line);
            return false;
          }
        }
    return true;
  }

  /// A fiber arrives for its whole warp. Lanes that may reach an unaligned barrier apart need
  /// fibers of their own.
  bool check_fiber_barriers() {
    for (RegionPlan& rp : plan_.regions) {
      rp.apart_at_barrier = Bits(graph_.nodes.size());
      for (NodeId n : rp.region.order) {
        if (!has_block_barrier(graph_, n)) continue;
        if (rp.masked.has(n) && others_have_barriers(rp, n)) rp.apart_at_barrier.add(n);
        if (too_much_work()) return false;
        const Node& node = graph_.nodes[n];
        for (uint32_t i = node.begin; i < node.end; ++i) {
          const Instruction& inst = graph_.inst(node, i);
          if (inst.op != Op::barrier || inst.has(Tok::warp) || inst.has(Tok::aligned)) continue;
          const bool guarded = inst.guard != ptx::no_index && !plan_.shapes[inst.guard].uniform();
          if (!rp.apart_at_barrier.has(n) && !guarded) continue;
          why_ = "unaligned barrier in divergent control flow, line " + std::to_string(inst.line);
          return false;
        }
      }
    }
    return true;
  }

  /// May lanes that went another way than to `n` come to a barrier?
  bool others_have_barriers(const RegionPlan& rp, NodeId n) const {
    for (NodeId x : rp.region.order) {
      const auto& arms = rp.region.succ[x];
      if (!diverges(plan_, rp.region, x)) continue;
      for (NodeId inside : arms) {
        if (!reach_from(rp.region, inside, rp.region.ipdom[x]).has(n)) continue;
        for (NodeId other : arms) {
          if (other == inside) continue;
          bool found = false;
          reach_from(rp.region, other, no_node).each([&](size_t m) {
            found |= has_block_barrier(graph_, static_cast<NodeId>(m));
          });
          if (found) return true;
        }
      }
    }
    return false;
  }

  Plan& plan_;
  Progress progress_;
  std::string& why_;
  Graph& graph_;
  Bits forced_;
  std::vector<NodeId> meets_;  ///< by divergent branch: where its lanes are together again
  mutable uint64_t work_ = 0;  ///< see too_much_work
  std::vector<NodeId> groups_;
  std::vector<std::pair<NodeId, NodeId>> ends_;  ///< a node behind each branch, and where it meets
};

/// Two `.sync` operations in arms of one divergent branch: lanes may meet across program counters.
bool syncs_in_two_arms(const Plan& plan, std::string& why);

/// Does it meet the lanes that its mask names wherever they are in the code?
bool meets_by_mask(const Instruction& inst) {
  return inst.op == Op::shfl || inst.op == Op::vote || inst.op == Op::match ||
         inst.op == Op::redux ||
         ((inst.op == Op::bar || inst.op == Op::barrier) && inst.has(Tok::warp));
}

bool syncs_in_two_arms(const Plan& plan, std::string& why) {
  const Graph& g = plan.graph;
  for (const RegionPlan& rp : plan.regions) {
    auto sync_nodes = [&](NodeId from, NodeId stop) {
      Bits seen(g.nodes.size()), out(g.nodes.size());
      std::vector<NodeId> work;
      if (from != stop) work.push_back(from), seen.add(from);
      while (!work.empty()) {
        NodeId u = work.back();
        work.pop_back();
        for (uint32_t i = g.nodes[u].begin; i < g.nodes[u].end; ++i)
          if (meets_by_mask(g.inst(g.nodes[u], i))) out.add(u);
        for (NodeId s : rp.region.succ[u])
          if (s != stop && !seen.has(s)) seen.add(s), work.push_back(s);
      }
      return out;
    };
    for (NodeId x : rp.region.order) {
      const Node& node = g.nodes[x];
      if (node.leave != Leave::cond || rp.region.succ[x].size() < 2) continue;
      if (!plan.shapes[g.last(node)->guard].varying()) continue;
      Bits a = sync_nodes(rp.region.succ[x][0], rp.region.ipdom[x]);
      Bits b = sync_nodes(rp.region.succ[x][1], rp.region.ipdom[x]);
      bool only_a = false, only_b = false;
      a.each([&](size_t i) { only_a |= !b.has(i); });
      b.each([&](size_t i) { only_b |= !a.has(i); });
      if (only_a && only_b) {
        why = ".sync operations in both arms of the branch on line " +
              std::to_string(g.last(node)->line);
        return true;
      }
    }
  }
  return false;
}

}  // namespace

bool diverges(const Plan& plan, const Region& region, NodeId node) {
  if (plan.launch.scalar || region.succ[node].size() < 2) return false;
  const Node& n = plan.graph.nodes[node];
  const Instruction* last = plan.graph.last(n);
  if (n.leave == Leave::cond) return plan.shapes[last->guard].varying();
  if (n.leave == Leave::indexed)
    return last->ops[0].kind == Operand::Kind::reg && !plan.shapes[last->ops[0].index].uniform();
  return false;
}

std::optional<Plan> make_plan(const ptx::Function& function, const LaunchShape& launch,
                              Strategy strategy, Progress progress, const CallWaits& call_waits,
                              std::string& why) {
  Plan plan;
  why.clear();
  plan.graph = build_graph(function, progress != Progress::together ? Cut::before_syncs
                                     : strategy == Strategy::region && function.is_entry
                                         ? Cut::after_barriers
                                         : Cut::none);
  plan.launch = launch;
  plan.strategy = strategy;
  plan.nans = plan_nans(plan.graph);
  plan.subnormals = subnormal_constants(plan.graph);
  Planner planner(plan, progress, why);
  if (!planner.run(call_waits)) return std::nullopt;
  if (!launch.scalar) plan.constants = find_constants(plan.graph, plan.shapes);
  if (!launch.scalar && syncs_in_two_arms(plan, why)) return std::nullopt;
  return plan;
}

}  // namespace limen::simt
