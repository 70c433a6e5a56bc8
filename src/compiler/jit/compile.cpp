// limen_jit_compile: one kernel, one specialisation, to an object. Chooses strategy and width,
// plans, lowers, optimises, emits. Thread-safe: every call has its own LLVM context.
#include "compiler/jit/compile.h"

#include <fmt/format.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>

#include "compiler/jit/llvm_faults.h"
#include "compiler/jit/target.h"
#include "compiler/ptx/parser.h"
#include "compiler/simt/find_widenings.h"
#include "compiler/simt/lower.h"
#include "compiler/simt/split.h"

namespace limen::jit {

using kernel::Strategy;
using ptx::Index;
using ptx::Op;
using ptx::Operand;
using ptx::Space;

namespace {

/// CUDA's limit of local memory a thread, for every architecture.
constexpr uint64_t most_local_bytes = 512 * 1024;

/// The kernel and everything it may call.
struct Program {
  ptx::Module& module;
  Index kernel;
  std::vector<Index> functions;  ///< callees with a body, kernel excluded
  bool indirect = false;
};

/// Reads a body and checks it: PTX out of fat binaries comes here unseen.
Result<void> parse(ptx::Module& m, Index f) {
  LIMEN_CHECK(ptx::parse_body(m, f));
  LIMEN_CHECK(ptx::verify_body(m, f));
  std::string why;
  if (simt::is_too_large(m.functions[f], why)) return Error{Code::not_supported, why, ""};
  for (const ptx::Register& r : m.functions[f].registers)
    if (r.vector > 1)
      return Error{
          Code::not_supported,
          fmt::format("vector register '{}' in '{}' is not supported", r.name, m.functions[f].name),
          ""};
  simt::find_widenings(m.functions[f]);
  simt::split_registers(m.functions[f]);
  return {};
}

void direct_callees(const ptx::Function& f, std::set<Index>& out, bool& indirect) {
  for (const auto& b : f.blocks)
    for (const auto& i : b.body) {
      if (i.op != Op::call) continue;
      if (i.ops[0].kind == Operand::Kind::reg)
        indirect = true;
      else if (i.ops[0].symbol_kind == Operand::SymbolKind::function)
        out.insert(i.ops[0].index);
    }
}

Result<Program> collect(ptx::Module& m, Index kernel) {
  Program p{m, kernel, {}, false};
  std::set<Index> seen{kernel};
  std::vector<Index> work{kernel};
  while (!work.empty()) {
    Index f = work.back();
    work.pop_back();
    LIMEN_CHECK(parse(m, f));
    std::set<Index> next;
    bool indirect = false;
    direct_callees(m.functions[f], next, indirect);
    if (indirect) {
      p.indirect = true;
      for (Index i = 0; i < m.functions.size(); ++i)
        if (!m.functions[i].is_entry && m.functions[i].has_body) next.insert(i);
    }
    for (Index n : next)
      if (m.functions[n].has_body && seen.insert(n).second) {
        p.functions.push_back(n);
        work.push_back(n);
      }
  }
  return p;
}

/// Which callees are inlined: small ones that cannot come to call themselves, as long as what they
/// call in turn stays small too (functions that call each other twice double with every level).
class InlineChoice {
 public:
  explicit InlineChoice(const Program& p) : module_(p.module) {
    for (Index f : p.functions) {
      Node& node = nodes_[f];
      for (const auto& b : module_.functions[f].blocks) {
        node.size += b.body.size();
        for (const auto& i : b.body) {
          if (i.op != Op::call) continue;
          if (i.ops[0].kind == Operand::Kind::reg)
            node.leads_anywhere = true;
          else
            node.calls.push_back(i.ops[0].index);
        }
      }
    }
    for (Index f : p.functions) visit(f);
  }
  bool inlines(Index function) const {
    const auto it = nodes_.find(function);
    return it != nodes_.end() && it->second.inlined;
  }

 private:
  static constexpr uint64_t most_own = 150, most_whole = 3000;  // instructions
  struct Node {
    std::vector<Index> calls;  ///< one for each call
    uint64_t size = 0;         ///< with what is inlined into it
    uint32_t entered = 0, lowest = 0;
    bool open = false, recursive = false, inlined = false;
    bool leads_anywhere = false;  ///< by an indirect call, its own or a callee's
  };

  /// Tarjan's strongly connected components, without recursion: chains of calls may be long.
  void visit(Index root) {
    if (nodes_[root].entered) return;
    std::vector<std::pair<Index, size_t>> path{{root, 0}};
    enter(root);
    while (!path.empty()) {
      const auto [f, at] = path.back();
      Node& node = nodes_[f];
      if (at == node.calls.size()) {
        path.pop_back();
        leave(f);
        if (!path.empty()) {
          Node& caller = nodes_[path.back().first];
          caller.lowest = std::min(caller.lowest, node.lowest);
        }
        continue;
      }
      ++path.back().second;
      const auto callee = nodes_.find(node.calls[at]);
      if (callee == nodes_.end()) continue;
      if (!callee->second.entered) {
        enter(callee->first);
        path.push_back({callee->first, 0});
      } else if (callee->second.open) {
        node.lowest = std::min(node.lowest, callee->second.entered);
        node.recursive |= callee->first == f;
      }
    }
  }

  void enter(Index f) {
    nodes_[f].entered = nodes_[f].lowest = ++count_;
    nodes_[f].open = true;
    open_.push_back(f);
  }

  void leave(Index f) {
    Node& node = nodes_[f];
    if (node.lowest != node.entered) return;
    const bool alone = open_.back() == f;
    for (Index member = ptx::no_index; member != f;) {
      member = open_.back();
      open_.pop_back();
      Node& own = nodes_[member];
      own.open = false;
      own.recursive |= !alone;
      decide(own);
    }
  }

  void decide(Node& node) {
    const uint64_t own = node.size;
    for (Index callee : node.calls) {
      const auto it = nodes_.find(callee);
      if (it == nodes_.end()) continue;
      node.leads_anywhere |= it->second.leads_anywhere;
      if (it->second.inlined) node.size += it->second.size;
    }
    node.inlined =
        own <= most_own && node.size <= most_whole && !node.recursive && !node.leads_anywhere;
  }

  const ptx::Module& module_;
  std::map<Index, Node> nodes_;
  std::vector<Index> open_;
  uint32_t count_ = 0;
};

/// Where .shared variables lie in the block's window.
struct SharedLayout {
  std::vector<uint64_t> variables;
  std::map<Index, simt::FrameLayout> frames;
  uint64_t bytes = 0;
  uint64_t align = 1;  ///< of the window itself
};

/// What programs ask of shared addresses they ask of generic ones too. Tensor copies exchange
/// places by the address, in patterns of up to 1024 bytes, and programs align buffers for them by
/// hand.
uint64_t window_alignment(const ptx::Module& module, const ptx::Function& f) {
  constexpr uint64_t of_swizzle = 1024, most = 4096;
  uint64_t align = 1;
  for (const ptx::Variable& v : f.locals)
    if (v.space == Space::shared) align = std::max<uint64_t>(align, v.align);
  for (const auto& b : f.blocks)
    for (const auto& i : b.body) {
      if (i.op == ptx::Op::cp && i.has(ptx::Tok::tensor)) align = std::max(align, of_swizzle);
      for (const Operand& o : i.ops)
        if (o.symbol_kind == Operand::SymbolKind::variable &&
            module.variables[o.index].space == Space::shared)
          align = std::max<uint64_t>(align, module.variables[o.index].align);
    }
  return std::min(align, most);
}

void mark_shared(const ptx::Function& f, std::set<Index>& used) {
  auto visit = [&](const Operand& o, auto& self) -> void {
    if (o.symbol_kind == Operand::SymbolKind::variable) used.insert(o.index);
    for (const Operand& e : o.elems) self(e, self);
  };
  for (const auto& b : f.blocks)
    for (const auto& i : b.body) {
      for (const Operand& o : i.ops) visit(o, visit);
      for (const Operand& o : i.call_args) visit(o, visit);
    }
}

SharedLayout lay_out_shared(const Program& p) {
  SharedLayout l;
  std::set<Index> used;
  mark_shared(p.module.functions[p.kernel], used);
  for (Index f : p.functions) mark_shared(p.module.functions[f], used);
  l.align = window_alignment(p.module, p.module.functions[p.kernel]);
  for (Index f : p.functions)
    l.align = std::max(l.align, window_alignment(p.module, p.module.functions[f]));
  l.variables.assign(p.module.variables.size(), 0);
  uint64_t dynamic_align = 16;
  for (Index v : used) {
    const ptx::Variable& var = p.module.variables[v];
    if (var.space != Space::shared) continue;
    const uint64_t align = std::max<uint64_t>(1, var.align);
    if (var.bytes == 0) {
      dynamic_align = std::max(dynamic_align, align);
      continue;
    }
    l.bytes = (l.bytes + align - 1) / align * align;
    l.variables[v] = l.bytes;
    l.bytes += var.bytes;
  }
  l.frames[p.kernel] = simt::lay_out(p.module, p.module.functions[p.kernel], l.bytes);
  for (Index f : p.functions) l.frames[f] = simt::lay_out(p.module, p.module.functions[f], l.bytes);
  bool dynamic = false;
  for (Index v : used) {
    const ptx::Variable& var = p.module.variables[v];
    if (var.space != Space::shared || var.bytes != 0) continue;
    if (!dynamic) l.bytes = (l.bytes + dynamic_align - 1) / dynamic_align * dynamic_align;
    dynamic = true;
    l.variables[v] = l.bytes;
  }
  return l;
}

struct Choice {
  Strategy strategy;
  uint32_t width;
  std::string why;
  bool if_waits_allow = false;  ///< only where waits_as_warp says so
  bool may_widen = false;       ///< twice the lanes where that is worth it, see widens
  simt::Progress progress = simt::Progress::together;
};

uint32_t region_width(const ptx::Module&, const simt::Target& target, const Specialization& spec,
                      bool float64) {
  uint32_t threads = spec.block[0] ? spec.block[0] * spec.block[1] * spec.block[2] : 32;
  uint32_t w = float64 && !target.avx512 ? 8 : 16;
  while (w > 4 && w / 2 >= threads) w /= 2;
  return w;
}

/// Vectors that are live together at most, in bytes a lane.
uint64_t live_bytes(const simt::Plan& plan) {
  const simt::Graph& g = plan.graph;
  uint64_t most = 0;
  std::vector<Index> uses, defs;
  for (const simt::Node& node : g.nodes) {
    simt::Bits live(g.registers);
    for (simt::NodeId s : node.succ) live.merge(g.live_in[s]);
    for (uint32_t i = node.end; i-- > node.begin;) {
      simt::uses_and_defs(g, g.inst(node, i), uses, defs);
      for (Index d : defs) live.remove(d);
      for (Index u : uses) live.add(u);
      uint64_t bytes = 0;
      live.each([&](size_t r) {
        if (r != g.carry() && plan.shapes[r].varying())
          bytes += static_cast<uint64_t>(simt::bits_of(g.function->registers[r].type)) / 8;
      });
      most = std::max(most, bytes);
    }
  }
  return most;
}

/// Is a kernel with barriers better off with twice the lanes? What is done once a warp and barrier
/// then weighs half (needleman_wunsch, dgemm_tiled). Not where the vectors would not fit into the
/// registers, nor where rows of a block would lie in one warp.
bool widens(const simt::Plan& plan) {
  constexpr uint64_t registers = 16 * 32;  // bytes, of AVX2
  const simt::LaunchShape& l = plan.launch;
  const uint32_t lanes = 2 * l.width;
  const bool rows = l.block[0] % lanes == 0;
  return plan.graph.has_barrier && rows && l.threads() >= 2 * lanes &&
         live_bytes(plan) * lanes <= registers * 3 / 2;
}

/// Functions that read what other threads may change, themselves or through what they call.
std::set<Index> watching_functions(const Program& p) {
  std::set<Index> found;
  for (bool grew = true; grew;) {
    grew = false;
    for (Index f : p.functions) {
      if (found.count(f)) continue;
      const ptx::Function& function = p.module.functions[f];
      std::set<Index> callees;
      bool watches = false;
      direct_callees(function, callees, watches);  // an indirect call may lead anywhere
      watches = watches && !found.empty();
      for (Index callee : callees) watches |= found.count(callee) != 0;
      for (const auto& block : function.blocks)
        for (const auto& inst : block.body) watches |= simt::reads_shared_state(inst);
      if (watches) found.insert(f), grew = true;
    }
  }
  return found;
}

/// Keeps a reference to `watchers`.
simt::CallWaits calls_that_wait(const std::set<Index>& watchers) {
  return [&watchers](const ptx::Instruction& call) {
    return call.ops[0].kind == Operand::Kind::reg ? !watchers.empty()
                                                  : watchers.count(call.ops[0].index) != 0;
  };
}

/// The strategies to try, best first.
std::vector<Choice> choices(const Program& p, const Specialization& spec,
                            const simt::Target& target, const std::set<Index>& watchers,
                            bool& ftz_by_mxcsr) {
  const simt::CallWaits call_waits = calls_that_wait(watchers);
  simt::Traits all = simt::traits_of(p.module.functions[p.kernel], call_waits);
  bool calls_barrier = false;
  const bool kernel_spins = all.spins;
  bool callee_spins = false, callee_syncs = false;
  for (Index f : p.functions) {
    simt::Traits t = simt::traits_of(p.module.functions[f], call_waits);
    all.warp_ops |= t.warp_ops;
    calls_barrier |= t.barriers;
    callee_syncs |= t.warp_ops;
    all.exits |= t.exits;
    all.odd_barriers |= t.odd_barriers;
    if (t.odd_barriers) all.reason = t.reason;
    all.allocates |= t.allocates;
    all.float64 |= t.float64;
    all.all_ftz &= t.all_ftz;
    all.any_ftz |= t.any_ftz;
    callee_spins |= t.spins;
    if (t.spins)
      all.spins = true, all.reason = t.reason, all.uniform_spins_only &= t.uniform_spins_only;
  }
  ftz_by_mxcsr = all.all_ftz && all.any_ftz && !all.float64;
  uint32_t width = spec.width     ? spec.width
                   : all.warp_ops ? 32
                                  : region_width(p.module, target, spec, all.float64);
  if (all.warp_ops) width = 32;
  std::vector<Choice> list;
  Choice region{Strategy::region, width, "region loops"};
  region.may_widen =
      !spec.width && !all.warp_ops && spec.block[0] && p.functions.empty() && !target.avx512;
  const Choice fiber{Strategy::fiber, 32, ""}, lane{Strategy::lane, 1, ""};
  auto add = [&](Choice c, const std::string& why) {
    if (!why.empty()) c.why = why;
    list.push_back(c);
  };
  if (spec.strategy == static_cast<int>(Strategy::lane)) {
    add(lane, "asked for");
    return list;
  }
  const bool fiber_asked = spec.strategy == static_cast<int>(Strategy::fiber);
  const bool together = spec.residency != Residency::free;
  if (all.exits) {
    add(lane, "exit inside a device function");
  } else if (spec.strategy == independent_lanes) {
    Choice independent = fiber;
    independent.progress = simt::Progress::everywhere;
    if (!callee_spins && !callee_syncs && !calls_barrier) add(independent, "asked for");
    add(lane, "");
  } else if (all.spins) {
    if (all.uniform_spins_only) {
      add(fiber, all.reason);
    } else if (kernel_spins && !callee_spins && watchers.empty()) {
      Choice proven = fiber;
      proven.if_waits_allow = true;
      add(proven, all.reason);
    }
    if (kernel_spins && !callee_spins && watchers.empty() && !callee_syncs && !calls_barrier) {
      Choice independent = fiber;
      independent.progress = simt::Progress::independent;
      add(independent, all.reason);
    }
    add(lane, all.reason);
  } else if (fiber_asked) {
    add(fiber, "asked for");
    add(lane, "");
  } else {
    if (all.odd_barriers)
      add(fiber, all.reason);
    else if (together)
      add(fiber,
          spec.residency == Residency::cluster ? "launched in clusters" : "launched cooperatively");
    else if (all.allocates)
      add(fiber, "alloca");
    else if (calls_barrier)
      add(fiber, "barrier inside a called function");
    else
      add(region, "");
    add(lane, "");
  }
  return list;
}

void dump(const char* stage, const std::string& name, const llvm::Module& module) {
  const char* dir = std::getenv("LIMEN_DUMP_DIR");
  if (!dir || !*dir) return;
  std::error_code ec;
  llvm::raw_fd_ostream out(fmt::format("{}/{}.{}.ll", dir, name.substr(0, 100), stage), ec);
  if (!ec) module.print(out, nullptr);
}

struct Attempt {
  std::optional<CompiledKernel> kernel;
  std::string why;    ///< the strategy cannot run this kernel
  std::string error;  ///< nothing can
  Code code = Code::not_supported;
};

Attempt attempt(const Program& p, const Specialization& spec, const simt::Target& target,
                const Choice& choice, const std::set<Index>& watchers, bool ftz_by_mxcsr) {
  Attempt result;
  const ptx::Function& kernel = p.module.functions[p.kernel];
  llvm::LLVMContext context;
  llvm::Module module("limen", context);
  std::string error;
  auto machine = make_machine(target, spec.opt_level, error);
  if (!machine) return result.error = error, result;
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple().str());
  SharedLayout shared = lay_out_shared(p);
  for (const auto& [function, frame] : shared.frames) {
    if (frame.local_bytes <= most_local_bytes) continue;
    result.error =
        fmt::format("'{}' needs {} bytes of local memory a thread, {} at most",
                    p.module.functions[function].name, frame.local_bytes, most_local_bytes);
    result.code = Code::launch_out_of_resources;
    return result;
  }

  simt::Unit unit{module,       p.module, target, {}, choice.strategy,
                  ftz_by_mxcsr, {},       {},     {}, Code::not_supported};
  unit.exact_nan = spec.exact_nan;
  unit.launch.width = choice.width;
  unit.launch.scalar = choice.strategy == Strategy::lane;
  unit.launch.small_grid = spec.small_grid;
  unit.launch.variables = &p.module.variables;
  unit.launch.cluster = spec.residency == Residency::cluster;
  for (int i = 0; i < 3; ++i) unit.launch.block[i] = spec.block[i];
  auto plan_for = [&](Index f) {
    simt::LaunchShape launch = unit.launch;
    launch.frame_bytes = static_cast<uint32_t>(shared.frames[f].local_bytes);
    return simt::make_plan(p.module.functions[f], launch, choice.strategy, choice.progress,
                           calls_that_wait(watchers), result.why);
  };
  auto plan = plan_for(p.kernel);
  if (plan && choice.may_widen && widens(*plan)) {
    unit.launch.width *= 2;
    if (auto wider = plan_for(p.kernel))
      plan = std::move(wider);
    else
      unit.launch.width = choice.width;
  }
  if (!plan) return result;
  const uint32_t width = unit.launch.width;
  const InlineChoice inline_choice(p);
  if (choice.if_waits_allow && !simt::waits_as_warp(*plan, result.why)) return result;
  simt::Lowering lowering(unit, *plan, p.kernel, shared.variables, shared.frames[p.kernel]);
  lowering.make_kernel();
  std::vector<std::unique_ptr<simt::Plan>> plans;
  for (size_t i = 0; i < unit.pending.size() && unit.error.empty(); ++i) {
    Index f = unit.pending[i];
    auto own = plan_for(f);
    if (!own) return result;
    plans.push_back(std::make_unique<simt::Plan>(std::move(*own)));
    simt::Lowering callee(unit, *plans.back(), f, shared.variables, shared.frames[f]);
    callee.make_function();
    if (inline_choice.inlines(f)) unit.functions[f]->addFnAttr(llvm::Attribute::AlwaysInline);
  }
  if (!unit.error.empty()) {
    result.error = unit.error;
    result.code = unit.error_code;
    return result;
  }
  const std::string tag =
      fmt::format("{}.{}x{}x{}.s{}w{}", kernel.name.substr(0, 60), spec.block[0], spec.block[1],
                  spec.block[2], static_cast<int>(choice.strategy), width);
  dump("raw", tag, module);
  std::string broken;
  llvm::raw_string_ostream broken_out(broken);
  if (llvm::verifyModule(module, &broken_out)) {
    result.error =
        fmt::format("internal: invalid code for '{}': {}", kernel.name, broken.substr(0, 400));
    result.code = Code::unknown;
    return result;
  }
  optimize(module, *machine, target, spec.opt_level);
  if (target.avx512) keep_apart_masked_bit_selects(module);
  if (target.has("avx512fp16")) compare_halves_as_floats(module);
  dump("opt", tag, module);
  CompiledKernel k;
  EmittedObject object = emit_object(module, *machine, error);
  if (object.bytes.empty()) return result.error = error, result;
  k.object = std::move(object.bytes);
  if (const char* dir = std::getenv("LIMEN_DUMP_DIR"); dir && *dir) {
    std::ofstream out(fmt::format("{}/{}.o", dir, tag), std::ios::binary);
    out.write(reinterpret_cast<const char*>(k.object.data()),
              static_cast<std::streamsize>(k.object.size()));
  }
  k.meta.abi_version = kernel::kernel_abi_version;
  k.meta.strategy = choice.strategy;
  k.meta.width = width;
  k.meta.slot_bytes = lowering.slot_bytes();
  k.meta.local_frame_bytes = static_cast<uint32_t>(shared.frames[p.kernel].local_bytes);
  k.meta.native_frame_bytes =
      static_cast<uint32_t>(std::min<uint64_t>(object.frame_bytes, UINT32_MAX));
  k.meta.static_shared_bytes = static_cast<uint32_t>(shared.bytes);
  k.meta.shared_align = static_cast<uint32_t>(shared.align);
  for (int i = 0; i < 3; ++i) k.meta.block[i] = spec.block[i];
  k.meta.flush_denormals = ftz_by_mxcsr;
  k.meta.has_barrier = plan->graph.has_barrier;
  k.notes = choice.why;
  result.kernel = std::move(k);
  return result;
}

}  // namespace
}  // namespace limen::jit

extern "C" __attribute__((visibility("default"))) limen::Result<limen::jit::CompiledKernel>
limen_jit_compile(limen::ptx::Module& module, uint32_t function,
                  const limen::jit::Specialization& spec) {
  using namespace limen;
  using namespace limen::jit;
  const simt::Target* target = find_target(spec.target);
  if (!target)
    return Error{Code::invalid_value, fmt::format("no target is called '{}'", spec.target), ""};
  LIMEN_TRY(Program program, collect(module, function));
  bool ftz = false;
  std::string why;
  const std::set<Index> watchers = watching_functions(program);
  for (Choice& choice : choices(program, spec, *target, watchers, ftz)) {
    if (!why.empty()) choice.why += choice.why.empty() ? why : "; tried before: " + why;
    Attempt a = attempt(program, spec, *target, choice, watchers, ftz);
    if (a.kernel) return std::move(*a.kernel);
    if (!a.error.empty()) return Error{a.code, a.error, ""};
    why = a.why;
  }
  return Error{Code::not_supported,
               fmt::format("no strategy can run '{}': {}", module.functions[function].name, why),
               ""};
}
