// Any text must give a module or an error, never a crash; what the verifier accepts must be
// consistent: indices in range, successors exist, canonical text reads back to the same text.
// An input that does not begin with ".version" is taken as the body of a kernel with registers, so
// that mutations reach the operands quickly.
#include <cstdlib>
#include <string>

#include "compiler/ptx/parser.h"
#include "compiler/ptx/table.h"

using namespace limen::ptx;

namespace {

const char prologue[] =
    ".version 9.0\n.target sm_120a\n.address_size 64\n.global .align 4 .b8 g[64];\n"
    ".func (.param .b32 r) f(.param .b32 a) { ret; }\n.entry k(.param .u64 p)\n{\n"
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
    ".reg .f32 %f<9>; .reg .f64 %d<9>; .reg .v4 .f32 %v; .reg .b128 %q<3>;\n";

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (!text.starts_with(".version") && !text.starts_with("//")) text = prologue + text + "\n}\n";
  auto module = parse_module(std::move(text));
  if (!module) {
    require(!module.error().what.empty());
    return 0;
  }
  for (Index i = 0; i < (*module)->functions.size(); ++i) {
    if (!parse_body(**module, i).ok() || !(*module)->functions[i].body_parsed) continue;
    if (verify_body(**module, i).ok()) check_function(**module, (*module)->functions[i]);
  }
  return 0;
}
