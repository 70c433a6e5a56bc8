// Any text must give a module or an error, never a crash; what the verifier accepts must be
// consistent: indices in range, successors exist, canonical text reads back to the same text; and the
// analyses before code generation must come to a plan or a reason for every strategy.
#include <cstdlib>
#include <string>

#include "compiler/ptx/parser.h"
#include "compiler/ptx/table.h"
#include "compiler/simt/plan.h"
#include "fuzz/ptx_input.h"

using namespace limen::ptx;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_operand(const Module& m, const Function& f, const Operand& o) {
  for (const Operand& e : o.elems) check_operand(m, f, e);
  if (o.kind == Operand::Kind::reg) require(o.index < f.registers.size());
  if (o.kind == Operand::Kind::label) require(f.label_block.at(o.index) < f.blocks.size());
  const bool symbolic = o.kind == Operand::Kind::symbol || o.kind == Operand::Kind::address;
  if (!symbolic) return;
  switch (o.symbol_kind) {
    case Operand::SymbolKind::variable: require(o.index < m.variables.size()); break;
    case Operand::SymbolKind::function: require(o.index < m.functions.size()); break;
    case Operand::SymbolKind::local_variable: require(o.index < f.locals.size()); break;
    case Operand::SymbolKind::param:
      require(o.index < f.params.size() + f.returns.size());
      break;
    case Operand::SymbolKind::label: require(o.index < f.labels.size()); break;
    case Operand::SymbolKind::none:
      require(o.index == no_index || o.index < f.registers.size());
      break;
  }
}

void check_function(const Module& m, const Function& f) {
  require(!f.blocks.empty());
  for (size_t b = 0; b < f.blocks.size(); ++b) {
    for (Index s : f.blocks[b].succ) require(s > 0 && s < f.blocks.size());
    for (const Instruction& i : f.blocks[b].body) {
      for (const Operand& o : i.ops) check_operand(m, f, o);
      for (const Operand& o : i.call_args) check_operand(m, f, o);
      for (const Operand& o : i.call_returns) check_operand(m, f, o);
      require(i.guard == no_index || i.guard < f.registers.size());
      require(i.form < form_count() && form(i).op == i.op);
      const std::string text = to_text(m, f, i);
      const size_t start = text[0] == '@' ? text.find(' ') + 1 : 0;
      Opcode again;
      require(match_opcode(std::string_view(text).substr(
                  start, text.find_first_of(" ;", start) - start), again).empty());
      require(again.form == i.form && again.type_count == i.type_count);
    }
  }
}

void plan_function(const Function& f) {
  using limen::kernel::Strategy;
  std::string why;
  if (limen::simt::is_too_large(f, why)) return;
  limen::simt::traits_of(f, [](const Instruction&) { return true; });
  for (Strategy strategy : {Strategy::region, Strategy::fiber, Strategy::lane}) {
    limen::simt::LaunchShape launch;
    launch.scalar = strategy == Strategy::lane;
    launch.width = launch.scalar ? 1 : strategy == Strategy::fiber ? 32 : 8;
    if (strategy == Strategy::region) launch.block[0] = 48, launch.block[1] = launch.block[2] = 1;
    why.clear();
    const auto plan = limen::simt::make_plan(f, launch, strategy, why);
    require(plan || !why.empty());
    require(plan || strategy != Strategy::lane || !f.is_entry);
    if (plan && strategy == Strategy::fiber) limen::simt::waits_as_warp(*plan, why);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto module = parse_module(limen::fuzz::ptx_input(data, size));
  if (!module) {
    require(!module.error().what.empty());
    return 0;
  }
  for (Index i = 0; i < (*module)->functions.size(); ++i) {
    if (!parse_body(**module, i).ok() || !(*module)->functions[i].body_parsed) continue;
    if (!verify_body(**module, i).ok()) continue;
    check_function(**module, (*module)->functions[i]);
    plan_function((*module)->functions[i]);
  }
  return 0;
}
