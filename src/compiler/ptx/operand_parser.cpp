// Instructions and their operands. Opcode texts are matched once per thread and remembered, so a body
// costs a hash look-up an instruction. Whether operands fit the form is verify.cpp's work; here they
// only have to be readable. The memo is thread-local; otherwise one thread per BodyParser.
#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "compiler/ptx/body_parser.h"

namespace limen::ptx {
namespace {

constexpr size_t max_remembered_opcodes = 4096;
constexpr size_t max_opcode_length = 400;
constexpr int max_operand_depth = 4;
constexpr size_t max_vector_elements = 512;

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
using OpcodeMemo = std::unordered_map<std::string, Opcode, TextHash, std::equal_to<>>;

/// The opcode of a text; on failure an empty pointer and `why`.
const Opcode* remember_opcode(std::string_view text, std::string& why) {
  thread_local OpcodeMemo memo;
  if (const auto it = memo.find(text); it != memo.end()) return &it->second;
  Opcode code;
  why = match_opcode(text, code);
  if (!why.empty()) return nullptr;
  if (memo.size() >= max_remembered_opcodes) memo.clear();
  return &memo.emplace(std::string(text), code).first->second;
}

}  // namespace

bool BodyParser::guard(Instruction& i) {
  cur_.advance();
  i.guard_negated = cur_.eat('!');
  cur_.skip();
  const uint32_t line = cur_.line(), column = cur_.column();
  const std::string_view name = cur_.name();
  if (name.empty()) return unexpected("a predicate register");
  const Symbol* s = resolve(name);
  if (!s || s->kind != Symbol::Kind::reg || f_.registers[s->index].type != Type::pred ||
      f_.registers[s->index].vector != 1)
    return fail_at(line, column, fmt::format("'{}' is not a predicate register", name));
  i.guard = s->index;
  return true;
}

bool BodyParser::opcode(std::string_view root, uint32_t line, uint32_t column, Instruction& i) {
  const char* const begin = root.data();
  std::string spaced;  // only for opcodes written with blanks between the parts
  std::string_view text = root;
  while (cur_.raw() == '.' || cur_.peek() == '.') {
    const bool adjacent = spaced.empty() && cur_.at() == text.data() + text.size();
    const std::string_view part = cur_.dotted();
    if (part.empty()) return unexpected("a modifier");
    if (adjacent) {
      text = {begin, static_cast<size_t>(part.data() + part.size() - begin)};
    } else {
      if (spaced.empty()) spaced = std::string(text);
      spaced += '.';
      spaced += part;
      text = spaced;
    }
    if (text.size() > max_opcode_length)
      return fail_at(line, column, "an opcode with its modifiers is too long");
  }
  std::string why;
  const Opcode* code = remember_opcode(text, why);
  if (!code) {
    cur_.move_to(begin, line);
    return fail(why);
  }
  i.op = code->op;
  i.form = code->form;
  i.type_count = code->type_count;
  i.types = code->types;
  i.mods = code->mods;
  return true;
}

bool BodyParser::instruction(std::string_view root, uint32_t line, uint32_t column) {
  Instruction i;
  i.guard = guarded_.guard;
  i.guard_negated = guarded_.guard_negated;
  i.line = line;
  i.source_line = loc_line_;
  i.source_file = loc_file_;
  if (!opcode(root, line, column, i)) return false;
  bool ok;
  if (i.op == Op::bra) ok = branch_target(i);
  else if (i.op == Op::brx) ok = indexed_branch(i);
  else if (i.op == Op::call) ok = call(i);
  else ok = operands(i);
  if (!ok || !expect(';')) return false;
  if (block_ended_) start_block();
  switch (i.op) {
    case Op::bra: case Op::brx: case Op::ret: case Op::exit: case Op::trap: block_ended_ = true;
    default: break;
  }
  f_.blocks[current_].body.push_back(std::move(i));
  return true;
}

bool BodyParser::operands(Instruction& i) {
  if (cur_.peek() == ';') return true;
  i.ops.reserve(4);
  do {
    if (i.ops.size() == 16) return fail("an instruction has at most 16 operands");
    i.ops.emplace_back();
    if (!operand(i, i.ops.back(), 0)) return false;
  } while (cur_.eat(','));
  return true;
}

bool BodyParser::operand(Instruction& i, Operand& o, int depth) {
  if (depth > max_operand_depth) return fail("operands are nested too deeply");
  const char c = cur_.peek();
  const uint32_t line = cur_.line();
  if (c == '[') return address(i, o);
  if (c == '{') return vector(i, o, depth) && (depth != 0 || second_of_pair(o));
  const char* start = cur_.at();
  bool negated = false;
  if (c == '!') {
    cur_.advance();
    negated = is_char(cur_.peek(), char_name_start);
    if (!negated) cur_.move_to(start, line);
  } else if (c == '-' && depth == 0) {
    cur_.advance();
    negated = is_char(cur_.peek(), char_name_start);
    if (!negated) cur_.move_to(start, line);
  }
  if (!negated && !is_char(c, char_name_start)) return immediate(o);
  cur_.skip();
  const uint32_t at_line = cur_.line();
  const char* const at = cur_.at();
  const std::string_view name = cur_.name();
  if (name == "WARP_SZ") {
    cur_.move_to(start, line);
    return immediate(o);
  }
  if (name == "_") {
    o.kind = Operand::Kind::sink;
  } else if (!name_operand(o, name, at_line, static_cast<uint32_t>(at - start))) {
    return false;
  }
  o.negated = negated;
  if (negated && (o.kind != Operand::Kind::reg ||
                  (c == '!') != (f_.registers[o.index].type == Type::pred)))
    return fail(c == '!' ? "only a predicate can be negated" : "only a number can be negated");
  return depth != 0 || second_of_pair(o);
}

/// `|p` behind a destination: `o` becomes the pair.
bool BodyParser::second_of_pair(Operand& o) {
  if (cur_.peek() != '|' || cur_.raw(1) == '|') return true;
  cur_.advance();
  Operand second;
  cur_.skip();
  const uint32_t second_line = cur_.line();
  const std::string_view second_name = cur_.name();
  if (second_name.empty()) return unexpected("a register");
  if (second_name == "_") second.kind = Operand::Kind::sink;
  else if (!name_operand(second, second_name, second_line, 0)) return false;
  Operand pair;
  pair.kind = Operand::Kind::pair;
  pair.elems.reserve(2);
  pair.elems.push_back(std::move(o));
  pair.elems.push_back(std::move(second));
  o = std::move(pair);
  return true;
}

bool BodyParser::immediate(Operand& o) {
  Number n;
  std::string why;
  if (!cur_.constant(n, why)) return fail(fmt::format("{}, found '{}'", why, cur_.token_here()));
  o.kind = Operand::Kind::imm;
  o.bits = static_cast<int64_t>(n.bits);
  o.imm_is_float = n.kind != Number::Kind::integer;
  o.imm_is_f64 = n.kind == Number::Kind::f64;
  return true;
}

const Symbol* BodyParser::resolve_range(std::string_view name, int above_level) {
  // "%r12" may be register 12 of "%r<..>" or 2 of "%r1<..>"; a number has no leading zero.
  size_t digits = 0;
  while (digits < 10 && digits + 1 < name.size() &&
         is_char(name[name.size() - 1 - digits], char_digit))
    ++digits;
  const Symbol* best = nullptr;
  uint64_t number = 0, scale = 1;
  for (size_t n = 1; n <= digits; ++n, scale *= 10) {
    const char digit = name[name.size() - n];
    number += static_cast<uint64_t>(digit - '0') * scale;
    if (digit == '0' && n > 1) continue;
    const Symbol* s = range_names_.find(name.substr(0, name.size() - n));
    if (!s || s->level <= above_level || number >= ranges_[s->index].count) continue;
    if (!best || s->level > best->level) best = s;
  }
  if (!best) return nullptr;
  const Range& range = ranges_[best->index];
  Symbol s;
  s.kind = Symbol::Kind::reg;
  s.level = best->level;
  s.line = best->line;
  s.index = add_register(name, range.type, range.vector);
  names_.insert(name, s);
  return names_.find(name);
}

const Symbol* BodyParser::resolve(std::string_view name) {
  const Symbol* s = names_.find(name);
  if (s && s->level >= deepest_range_level_) return s;
  const Symbol* deeper = resolve_range(name, s ? s->level : -1);
  return deeper ? deeper : names_.find(name);
}

bool BodyParser::component(Operand& o, unsigned count, std::string_view name) {
  if (cur_.raw() != '.' && (count > 1 || cur_.peek() != '.')) {
    if (count > 1 && o.kind == Operand::Kind::sreg)
      return fail(fmt::format("special register '{}' needs a component such as .x", name));
    return true;
  }
  const std::string_view word = cur_.peek_dotted();
  static constexpr std::string_view letters[] = {"xr", "yg", "zb", "wa"};
  if (word.size() == 1)
    for (unsigned i = 0; i < count && count > 1; ++i)
      if (letters[i].find(word[0]) != std::string_view::npos) {
        cur_.dotted();
        o.component = static_cast<uint8_t>(i);
        return true;
      }
  if (count == 1 && o.kind == Operand::Kind::reg && word.size() > 1 &&
      (word[0] == 'b' || word[0] == 'h') && is_char(word[1], char_digit))
    return selector(o, word);
  return fail(fmt::format("'{}' has no component '.{}'", name, word));
}

/// `.b7654`, `.h10` after a register of a video instruction.
bool BodyParser::selector(Operand& o, std::string_view word) {
  const bool halves = word[0] == 'h';
  const std::string_view digits = word.substr(1);
  bool good = digits.size() <= (halves ? 2 : 4);
  for (const char c : digits) good &= c >= '0' && c <= (halves ? '3' : '7');
  if (!good) return fail(fmt::format("unknown selector '.{}'", word));
  o.selector.halves = halves;
  o.selector.count = static_cast<uint8_t>(digits.size());
  for (const char c : digits)
    o.selector.digits = static_cast<uint16_t>(o.selector.digits << 4 | (c - '0'));
  cur_.dotted();
  return true;
}

bool BodyParser::name_operand(Operand& o, std::string_view name, uint32_t line, uint32_t column) {
  const Symbol* s = resolve(name);
  if (s) {
    o.index = s->index;
    switch (s->kind) {
      case Symbol::Kind::reg: {
        o.kind = Operand::Kind::reg;
        const uint8_t count = f_.registers[s->index].vector;
        // A vector register without a component stands for {r.x, r.y, ...}.
        if (count > 1 && cur_.raw() != '.') {
          o.kind = Operand::Kind::vector;
          for (uint8_t i = 0; i < count; ++i) {
            Operand element;
            element.kind = Operand::Kind::reg;
            element.index = s->index;
            element.component = i;
            o.elems.push_back(element);
          }
          o.index = no_index;
          return true;
        }
        return component(o, count, name);
      }
      case Symbol::Kind::local:
        o.symbol_kind = Operand::SymbolKind::local_variable;
        break;
      case Symbol::Kind::param:
        o.symbol_kind = Operand::SymbolKind::param;
        break;
      default:
        return fail_at(line, cur_.column(), fmt::format("'{}' cannot be an operand here", name));
    }
    o.kind = Operand::Kind::symbol;
    return offset(o);
  }
  if (name[0] == '%') {
    if (find_sreg(name.substr(1), o.sreg)) {
      o.kind = Operand::Kind::sreg;
      return component(o, sreg_components(o.sreg), name);
    }
  } else {
    const std::string key(name);
    if (auto v = module_.variable_index.find(key); v != module_.variable_index.end()) {
      o.kind = Operand::Kind::symbol;
      o.symbol_kind = Operand::SymbolKind::variable;
      o.index = v->second;
      return offset(o);
    }
    if (auto f = module_.function_index.find(key); f != module_.function_index.end()) {
      o.kind = Operand::Kind::symbol;
      o.symbol_kind = Operand::SymbolKind::function;
      o.index = f->second;
      return true;
    }
  }
  (void)column;
  cur_.move_to(name.data(), line);
  return fail(fmt::format("unknown symbol '{}'", name));
}

/// `+ 4`, `+ -4`, `- 4` after a symbol or a base register.
bool BodyParser::offset(Operand& o) {
  const char c = cur_.peek();
  if (c != '+' && c != '-') return true;
  if (c == '+') cur_.advance();
  cur_.skip();
  if (is_char(cur_.raw(), char_name_start) && cur_.raw() == '%')
    return unexpected("a constant offset");
  Number n;
  std::string why;
  if (!cur_.constant(n, why)) return fail(fmt::format("{}, found '{}'", why, cur_.token_here()));
  if (n.kind != Number::Kind::integer) return fail("an offset must be an integer");
  o.bits = static_cast<int64_t>(n.bits);
  return true;
}

/// `[base + offset]`, `[constant]`, or `[texture, {x, y}]` with the rest in elems.
bool BodyParser::address(Instruction& i, Operand& o) {
  cur_.advance();
  o.kind = Operand::Kind::address;
  cur_.skip();
  const uint32_t line = cur_.line();
  if (is_char(cur_.peek(), char_name_start)) {
    const std::string_view name = cur_.name();
    Operand base;
    if (!name_operand(base, name, line, 0)) return false;
    if (base.selector) return fail(fmt::format("the address '{}' has a selector", name));
    if (base.kind == Operand::Kind::reg) {
      if (!offset(base)) return false;
    } else if (base.kind != Operand::Kind::symbol) {
      return fail(fmt::format("'{}' cannot be an address", name));
    }
    o.component = base.component;
    o.symbol_kind = base.symbol_kind;
    o.index = base.index;
    o.bits = base.bits;
  } else {
    Operand base;
    if (!immediate(base)) return false;
    if (base.imm_is_float) return fail("an address must be an integer");
    o.bits = base.bits;
  }
  while (cur_.eat(',')) {
    if (o.elems.size() == 4) return fail("an address has at most 5 parts");
    o.elems.emplace_back();
    if (cur_.peek() == '[') return unexpected("a coordinate");
    if (!operand(i, o.elems.back(), 2)) return false;
  }
  if (!expect(']')) return false;
  if (cur_.raw() == '.') {
    if (cur_.peek_dotted() != "unified") return unexpected("','");
    cur_.dotted();
    i.mods.add(Tok::unified);
  }
  return true;
}

bool BodyParser::vector(Instruction& i, Operand& o, int depth) {
  cur_.advance();
  o.kind = Operand::Kind::vector;
  do {
    if (o.elems.size() == max_vector_elements) return fail("a vector has too many elements");
    o.elems.emplace_back();
    if (!operand(i, o.elems.back(), depth + 1)) return false;
  } while (cur_.eat(','));
  if (!expect('}')) return false;
  // Loads, stores and the source of a move take a lone value in braces, as Triton writes it; other
  // instructions know it as a vector of one. measured, ptxas 13.0
  const bool lone = i.op == Op::ld || i.op == Op::ldu || i.op == Op::st ||
                    (i.op == Op::mov && i.ops.size() == 2);
  if (lone && o.elems.size() == 1) {
    Operand element = std::move(o.elems.front());
    o = std::move(element);
  }
  return true;
}

bool BodyParser::branch_target(Instruction& i) {
  cur_.skip();
  const uint32_t line = cur_.line(), column = cur_.column();
  const std::string_view name = cur_.name();
  if (name.empty()) return unexpected("a label");
  Operand o;
  o.kind = Operand::Kind::label;
  o.index = label_reference(name);
  if (o.index == no_index) return fail_at(line, column, fmt::format("'{}' is not a label", name));
  i.ops.push_back(std::move(o));
  return true;
}

bool BodyParser::indexed_branch(Instruction& i) {
  i.ops.emplace_back();
  if (!operand(i, i.ops.back(), 1) || !expect(',')) return false;
  cur_.skip();
  const uint32_t line = cur_.line(), column = cur_.column();
  const std::string_view name = cur_.name();
  const Symbol* s = name.empty() ? nullptr : names_.find(name);
  if (!s || s->kind != Symbol::Kind::branch_list)
    return fail_at(line, column, fmt::format("'{}' is not a .branchtargets list", name));
  i.target_list = s->index;
  return true;
}

bool BodyParser::call_list(std::vector<Operand>& out, Instruction& i) {
  if (!expect('(')) return false;
  if (cur_.eat(')')) return true;
  do {
    if (out.size() == max_params) return fail("too many arguments");
    out.emplace_back();
    if (!operand(i, out.back(), 1)) return false;
  } while (cur_.eat(','));
  return expect(')');
}

/// `call (ret), f, (args), list;` with every part but f optional.
bool BodyParser::call(Instruction& i) {
  if (cur_.peek() == '(' && (!call_list(i.call_returns, i) || !expect(','))) return false;
  cur_.skip();
  const uint32_t line = cur_.line(), column = cur_.column();
  const std::string_view callee = cur_.name();
  if (callee.empty()) return unexpected("a function");
  Operand o;
  const Symbol* s = resolve(callee);
  if (s && s->kind == Symbol::Kind::reg) {
    o.kind = Operand::Kind::reg;
    o.index = s->index;
  } else if (const auto f = module_.function_index.find(std::string(callee));
             f != module_.function_index.end()) {
    o.kind = Operand::Kind::symbol;
    o.symbol_kind = Operand::SymbolKind::function;
    o.index = f->second;
  } else {
    return fail_at(line, column, fmt::format("'{}' is not a function", callee));
  }
  i.ops.push_back(std::move(o));
  if (!cur_.eat(',')) return true;
  if (cur_.peek() == '(') {
    if (!call_list(i.call_args, i)) return false;
    if (!cur_.eat(',')) return true;
  }
  cur_.skip();
  const uint32_t list_line = cur_.line(), list_column = cur_.column();
  const std::string_view list = cur_.name();
  const Symbol* t = list.empty() ? nullptr : names_.find(list);
  if (t && t->kind == Symbol::Kind::prototype) i.prototype = t->index;
  else if (t && t->kind == Symbol::Kind::call_list) i.target_list = t->index;
  else
    return fail_at(list_line, list_column,
                   fmt::format("'{}' is neither a prototype nor a target list", list));
  return true;
}

}  // namespace limen::ptx
