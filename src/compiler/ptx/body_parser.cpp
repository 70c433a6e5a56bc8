// Statements of a function body, except operands. Scopes are a counter and a table with shadowing,
// never recursion, so nesting costs no stack. Labels may be used before they are defined; a forward
// reference that its scope does not define moves to the outer scope. One thread per BodyParser.
#include "compiler/ptx/body_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ptx/parser.h"

namespace limen::ptx {
namespace {

constexpr uint16_t max_scope_depth = 64;
constexpr uint64_t max_range = uint64_t{1} << 32;
constexpr size_t max_indexed_edges = size_t{1} << 22;

bool ends_block(const Instruction& i) {
  switch (i.op) {
    case Op::bra: case Op::brx: case Op::ret: case Op::exit: case Op::trap: return true;
    default: return false;
  }
}

}  // namespace

bool BodyParser::run() {
  f_.blocks.emplace_back();
  if (!declare_params()) return false;
  while (!cur_.done())
    if (!statement()) return false;
  if (level_) return fail("a '{' is not closed");
  return finish();
}

bool BodyParser::declare_params() {
  auto declare = [&](std::vector<Param>& list, size_t first) {
    for (size_t i = 0; i < list.size(); ++i) {
      Param& p = list[i];
      if (p.name.empty() || p.name == "_") continue;
      Symbol s;
      s.line = f_.line;
      if (p.space == Space::reg) {
        s.kind = Symbol::Kind::reg;
        s.index = p.reg = add_register(p.name, p.type, 1);
      } else {
        s.kind = Symbol::Kind::param;
        s.index = static_cast<uint32_t>(first + i);
      }
      if (!names_.insert(p.name, s))
        return fail_at(f_.line, 1, fmt::format("duplicate parameter '{}'", p.name));
    }
    return true;
  };
  // Views into Param::name stay valid: the lists do not grow any more.
  return declare(f_.params, 0) && declare(f_.returns, f_.params.size());
}

bool BodyParser::statement() {
  const char c = cur_.peek();
  const uint32_t line = cur_.line();
  if (c == '}') {
    cur_.advance();
    return leave_scope();
  }
  if (c == '{') {
    if (level_ + 1 >= max_scope_depth) return fail("scopes are nested too deeply");
    cur_.advance();
    enter_scope();
    return true;
  }
  if (c == '.') return directive();
  guarded_.guard = no_index;
  guarded_.guard_negated = false;
  if (c == '@') {
    if (!guard(guarded_)) return false;
    cur_.skip();
    const uint32_t at_line = cur_.line(), column = cur_.column();
    const std::string_view root = cur_.name();
    if (root.empty()) return unexpected("an instruction");
    return instruction(root, at_line, column);
  }
  const char* start = cur_.at();
  const std::string_view word = cur_.name();
  if (word.empty()) return unexpected("an instruction");
  if (cur_.raw() != '.' && cur_.peek() == ':' && cur_.raw(1) != ':') {
    cur_.move_to(start, line);
    const uint32_t column = cur_.column();
    cur_.name();
    cur_.eat(':');
    return labelled(word, line, column);
  }
  if (cur_.raw() != '.') cur_.move_to(start + word.size(), line);
  return instruction(word, line, 0);
}

bool BodyParser::directive() {
  const char* start = cur_.at();
  const uint32_t line = cur_.line();
  const std::string_view word = cur_.dotted();
  std::string_view text;
  if (word == "reg") return registers();
  if (word == "shared") return local_variables(Space::shared);
  if (word == "local") return local_variables(Space::local);
  if (word == "param") return local_variables(Space::param);
  if (word == "loc") return location();
  if (word == "pragma") return string(text) && expect(';');
  cur_.move_to(start, line);
  return fail(fmt::format("unsupported directive '.{}' in a function body", word));
}

bool BodyParser::add_name(std::string_view name, Symbol symbol, uint32_t column) {
  if (name == "_" || name == "WARP_SZ")
    return fail_at(symbol.line, column, fmt::format("'{}' cannot be declared", name));
  symbol.level = level_;
  if (names_.insert(name, symbol)) return true;
  const Symbol* old = names_.find(name);
  return fail_at(symbol.line, column,
                 fmt::format("'{}' was declared in line {} already", name, old ? old->line : 0));
}

Index BodyParser::add_register(std::string_view name, Type type, uint8_t vector) {
  f_.registers.push_back({std::string(name), type, vector});
  return static_cast<Index>(f_.registers.size() - 1);
}

/// `.reg [.align n] [.v4] .f32 a, %r<10>;`
bool BodyParser::registers() {
  uint8_t vector = 1;
  uint32_t align;
  Type t{};
  bool typed = false;
  for (;;) {
    const std::string_view word = cur_.peek_dotted();
    if (word == "v2" || word == "v4") {
      cur_.dotted();
      vector = static_cast<uint8_t>(word[1] - '0');
    } else if (word == "align") {
      cur_.dotted();
      if (!alignment(align)) return false;
    } else if (!typed) {
      if (!type(t)) return false;
      typed = true;
    } else {
      break;
    }
  }
  const TypeKind kind = kind_of(t);
  if (kind == TypeKind::opaque || (kind == TypeKind::packed && t != Type::f16x2))
    return fail(fmt::format("a register cannot have type .{}", name(t)));
  if (size_of(t) * vector > 16)
    return fail(fmt::format("a vector of {} .{} is larger than 16 bytes", vector, name(t)));
  do {
    cur_.skip();
    const uint32_t line = cur_.line(), column = cur_.column();
    const std::string_view reg_name = cur_.name();
    if (reg_name.empty()) return unexpected("a register name");
    Symbol s;
    s.line = line;
    if (cur_.eat('<')) {
      uint64_t count;
      if (!range_count(count) || !expect('>')) return false;
      s.kind = Symbol::Kind::range;
      s.index = static_cast<uint32_t>(ranges_.size());
      s.level = level_;
      ranges_.push_back({reg_name, count, t, vector});
      deepest_range_level_ = std::max(deepest_range_level_, level_);
      if (!range_names_.insert(reg_name, s))
        return fail_at(line, column, fmt::format("registers '{}<n>' declared twice", reg_name));
    } else {
      s.kind = Symbol::Kind::reg;
      s.index = static_cast<uint32_t>(f_.registers.size());
      if (!add_name(reg_name, s, column)) return false;
      add_register(reg_name, t, vector);
    }
  } while (cur_.eat(','));
  return expect(';');
}

/// The n of `%r<n>`: a plain literal, since '>' would read as an operator.
bool BodyParser::range_count(uint64_t& out) {
  Number n;
  cur_.skip();
  if (!cur_.literal(n) || n.kind != Number::Kind::integer || n.bits > max_range)
    return unexpected(fmt::format("a count up to {}", max_range));
  out = n.bits;
  return true;
}

bool BodyParser::local_variables(Space space) {
  Declaration d;
  if (!declaration(d)) return false;
  for (;;) {
    const uint32_t column = cur_.column();
    if (d.type == Type::pred || kind_of(d.type) == TypeKind::opaque)
      return fail(fmt::format("a variable cannot have type .{} here", name(d.type)));
    if (!d.bytes) return fail(fmt::format("array '{}' has no size", d.name));
    if (space == Space::param && d.bytes > max_param_bytes)
      return fail(fmt::format("'{}' is larger than {} bytes", d.name, max_param_bytes));
    if (cur_.peek() == '=')
      return fail(fmt::format("'{}' cannot have an initialiser in its state space", d.name));
    Variable v;
    v.name = std::string(d.name);
    v.space = space;
    v.type = d.type;
    v.vector = d.vector;
    v.align = d.align;
    v.bytes = d.bytes;
    v.line = d.line;
    Symbol s;
    s.kind = Symbol::Kind::local;
    s.index = static_cast<uint32_t>(f_.locals.size());
    s.line = d.line;
    if (!add_name(d.name, s, column)) return false;
    f_.locals.push_back(std::move(v));
    if (!cur_.eat(',')) return expect(';');
    cur_.skip();
    d.line = cur_.line();
    d.name = cur_.name();
    if (d.name.empty()) return unexpected("a name");
    d.dims.clear();
    d.unsized = false;
    if (!dimensions(d) || !total_bytes(d)) return false;
  }
}

/// `.loc file line column [, function_name label [+ n], inlined_at file line column]`
bool BodyParser::location() {
  uint64_t file, line, column, ignored;
  if (!integer(file, UINT32_MAX) || !integer(line, UINT32_MAX) || !integer(column, UINT32_MAX))
    return false;
  loc_file_ = static_cast<uint32_t>(file);
  loc_line_ = static_cast<uint32_t>(line);
  while (cur_.eat(',')) {
    if (cur_.eat_word("function_name")) {
      cur_.skip();
      if (cur_.name().empty()) return unexpected("a label");
      if (cur_.eat('+') && !integer(ignored, UINT64_MAX)) return false;
    } else if (cur_.eat_word("inlined_at")) {
      if (!integer(ignored, UINT32_MAX) || !integer(ignored, UINT32_MAX) ||
          !integer(ignored, UINT32_MAX))
        return false;
    } else {
      return unexpected("'function_name' or 'inlined_at'");
    }
  }
  return true;
}

void BodyParser::enter_scope() { ++level_; }

bool BodyParser::leave_scope() {
  if (!level_) return fail("unexpected '}'");
  struct Forward {
    std::string_view name;
    Symbol symbol;
  };
  std::vector<Forward> forwards;
  names_.leave(level_, [&](std::string_view name, const Symbol& s) {
    if (s.kind == Symbol::Kind::label && !s.defined) forwards.push_back({name, s});
  });
  range_names_.leave(level_, [](std::string_view, const Symbol&) {});
  --level_;
  deepest_range_level_ = std::min(deepest_range_level_, level_);
  for (Forward& forward : forwards) {
    const Symbol* outer = names_.find(forward.name);
    if (outer && outer->level == level_) {
      if (outer->kind != Symbol::Kind::label)
        return fail_at(forward.symbol.line, 1, fmt::format("'{}' is not a label", forward.name));
      label_alias_[forward.symbol.index] = outer->index;
    } else {
      forward.symbol.level = level_;
      names_.insert(forward.name, forward.symbol);
    }
  }
  return true;
}

Index BodyParser::label_reference(std::string_view name) {
  const Symbol* found = names_.find(name);
  if (found && found->level == level_)
    return found->kind == Symbol::Kind::label ? found->index : no_index;
  Symbol s;
  s.kind = Symbol::Kind::label;
  s.defined = false;
  s.level = level_;
  s.index = static_cast<uint32_t>(f_.labels.size());
  s.line = cur_.line();
  f_.labels.emplace_back(name);
  f_.label_block.push_back(no_index);
  label_alias_.push_back(no_index);
  names_.insert(name, s);
  return s.index;
}

void BodyParser::start_block() {
  f_.blocks.emplace_back();
  current_ = static_cast<Index>(f_.blocks.size() - 1);
  block_ended_ = false;
}

bool BodyParser::define_label(std::string_view name, uint32_t line, uint32_t column) {
  const Index label = label_reference(name);
  Symbol* symbol = names_.find(name);
  if (label == no_index || (symbol->defined && f_.label_block[label] != no_index))
    return fail_at(line, column, fmt::format("'{}' was declared in line {} already", name,
                                             symbol ? symbol->line : 0));
  symbol->defined = true;
  symbol->line = line;
  // The entry block gets no label, so that nothing branches to it.
  if (current_ == 0 || block_ended_ || !f_.blocks[current_].body.empty()) start_block();
  f_.label_block[label] = current_;
  if (f_.blocks[current_].label == no_index) f_.blocks[current_].label = label;
  return true;
}

bool BodyParser::labelled(std::string_view name, uint32_t line, uint32_t column) {
  const std::string_view word = cur_.peek_dotted();
  if (word == "callprototype") return prototype(name, line, column);
  if (word == "branchtargets") return target_list(name, line, column, false);
  if (word == "calltargets") return target_list(name, line, column, true);
  return define_label(name, line, column);
}

/// `name: .callprototype (.param .b32 _) _ (.param .b64 _) [.noreturn];`
bool BodyParser::prototype(std::string_view name, uint32_t line, uint32_t column) {
  cur_.dotted();
  Prototype p;
  if (cur_.peek() == '(' && !params(p.returns, Owner::prototype)) return false;
  cur_.skip();
  if (cur_.name().empty()) return unexpected("'_'");
  if (cur_.peek() == '(' && !params(p.params, Owner::prototype)) return false;
  for (;;) {
    const std::string_view word = cur_.peek_dotted();
    uint64_t ignored;
    if (word == "noreturn") {
      cur_.dotted();
      p.noreturn = true;
    } else if (word == "abi_preserve" || word == "abi_preserve_control") {
      cur_.dotted();
      if (!integer(ignored, UINT32_MAX)) return false;
    } else {
      break;
    }
  }
  Symbol s;
  s.kind = Symbol::Kind::prototype;
  s.index = static_cast<uint32_t>(f_.prototypes.size());
  s.line = line;
  if (!add_name(name, s, column)) return false;
  f_.prototypes.push_back(std::move(p));
  return expect(';');
}

bool BodyParser::target_list(std::string_view name, uint32_t line, uint32_t column,
                             bool of_calls) {
  cur_.dotted();
  std::vector<Index> targets;
  do {
    cur_.skip();
    const uint32_t target_line = cur_.line(), target_column = cur_.column();
    const std::string_view word = cur_.name();
    if (word.empty()) return unexpected(of_calls ? "a function" : "a label");
    Index index;
    if (of_calls) {
      const auto it = module_.function_index.find(std::string(word));
      index = it == module_.function_index.end() ? no_index : it->second;
    } else {
      index = label_reference(word);
    }
    if (index == no_index)
      return fail_at(target_line, target_column,
                     fmt::format("'{}' is not a {}", word, of_calls ? "function" : "label"));
    targets.push_back(index);
  } while (cur_.eat(','));
  std::vector<std::vector<Index>>& lists = of_calls ? f_.call_targets : f_.branch_targets;
  Symbol s;
  s.kind = of_calls ? Symbol::Kind::call_list : Symbol::Kind::branch_list;
  s.index = static_cast<uint32_t>(lists.size());
  s.line = line;
  if (!add_name(name, s, column)) return false;
  lists.push_back(std::move(targets));
  return expect(';');
}

bool BodyParser::finish() {
  bool ok = true;
  names_.visit_outermost([&](std::string_view name, const Symbol& s) {
    if (s.kind == Symbol::Kind::label && !s.defined && ok)
      ok = fail_at(s.line, 1, fmt::format("label '{}' is not defined", name));
  });
  if (!ok) return false;
  for (size_t i = 0; i < f_.labels.size(); ++i) {
    size_t at = i;
    while (label_alias_[at] != no_index) at = label_alias_[at];
    f_.label_block[i] = f_.label_block[at];
    // Shorten the chain for those that follow it.
    for (size_t j = i; label_alias_[j] != no_index;) {
      const size_t next = label_alias_[j];
      label_alias_[j] = static_cast<Index>(at);
      j = next;
    }
    label_alias_[at] = no_index;
  }
  // Fall off the end: an explicit ret.
  const std::vector<Instruction>& last = f_.blocks.back().body;
  const bool closed = !last.empty() && ends_block(last.back()) && last.back().guard == no_index;
  if (!closed) {
    if (block_ended_) start_block();
    Instruction ret;
    ret.op = Op::ret;
    Opcode code;
    match_opcode("ret", code);
    ret.form = code.form;
    ret.line = cur_.line();
    ret.source_line = loc_line_;
    ret.source_file = loc_file_;
    f_.blocks.back().body.push_back(std::move(ret));
  }
  return link_blocks();
}

bool BodyParser::link_blocks() {
  size_t edges = 0;
  for (size_t b = 0; b < f_.blocks.size(); ++b) {
    Block& block = f_.blocks[b];
    const Index next = static_cast<Index>(b + 1);
    if (block.body.empty() || !ends_block(block.body.back())) {
      block.succ.push_back(next);
      continue;
    }
    const Instruction& last = block.body.back();
    if (last.op == Op::bra) {
      block.succ.push_back(f_.label_block[last.ops[0].index]);
    } else if (last.op == Op::brx) {
      // Many branches may share one long list.
      edges += f_.branch_targets[last.target_list].size();
      if (edges > max_indexed_edges)
        return fail_at(last.line, 1, fmt::format("more than {} targets of brx.idx in one function",
                                                 max_indexed_edges));
      for (Index label : f_.branch_targets[last.target_list])
        block.succ.push_back(f_.label_block[label]);
    }
    if (last.guard != no_index) block.succ.push_back(next);
  }
  return true;
}

Result<void> parse_body(Module& module, Index index) {
  Function& f = module.functions[index];
  if (f.body_parsed || !f.has_body) return {};
  BodyParser parser(module, f);
  if (parser.run()) {
    f.body_parsed = true;
    return {};
  }
  forget_body(module, index);
  return parser.take_error();
}

void forget_body(Module& module, Index index) {
  Function& f = module.functions[index];
  f.body_parsed = false;
  // New vectors: clear() would keep their memory.
  f.registers = {};
  f.locals = {};
  f.labels = {};
  f.label_block = {};
  f.blocks = {};
  f.prototypes = {};
  f.branch_targets = {};
  f.call_targets = {};
}

}  // namespace limen::ptx
