// The directory pass: everything outside function bodies. A body is only skipped to its closing brace
// (comments and strings respected), so a library of thousands of kernels is read at memory speed.
// A declaration and its definition become one Function; names are bound when all are known.
// parse_module may run in several threads on different texts.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ptx/parser.h"
#include "compiler/ptx/reader.h"

namespace limen::ptx {
namespace {


class ModuleParser : public Reader {
 public:
  explicit ModuleParser(Module& m)
      : Reader(m, m.text.data(), m.text.data() + m.text.size(), 1) {}
  bool run();

 private:
  bool version();
  bool target();
  bool address_size();
  bool file();
  bool section();
  bool section_item();
  bool alias();
  bool statement();
  bool attribute(bool& managed);
  bool variables(Space space, Linkage linkage);
  bool add_variable(Variable v, uint32_t column, Declaration& d);
  bool function(bool is_entry, Linkage linkage);
  bool function_directive(Function& f, bool& found);
  bool three(std::array<uint32_t, 3>& out);
  bool check_directives(const Function& f);
  bool lay_out_params(Function& f);
  bool merge(Function f, uint32_t column);
  bool skip_body(Function& f);
  bool bind_pending();
  bool bind_aliases();
  bool check_definitions();

  struct Alias {
    std::string_view name, target;
    uint32_t line, column;
  };
  std::vector<PendingSymbol> pending_;
  std::vector<Alias> aliases_;
};

bool ModuleParser::run() {
  cur_.skip();
  if (cur_.peek_dotted() != "version") return unexpected("'.version'");
  cur_.dotted();
  if (!version()) return false;
  cur_.skip();
  if (cur_.peek_dotted() != "target") return unexpected("'.target'");
  cur_.dotted();
  if (!target()) return false;
  while (!cur_.done())
    if (!statement()) return false;
  return bind_aliases() && check_definitions() && bind_pending();
}

/// What is declared without .extern must be defined, or be another name of something.
bool ModuleParser::check_definitions() {
  for (const Function& f : module_.functions) {
    if (f.has_body || f.linkage == Linkage::external) continue;
    if (module_.functions[module_.function_index.at(f.name)].name != f.name) continue;
    return fail_at(f.line, 1, fmt::format("function '{}' is declared and not defined", f.name));
  }
  return true;
}

bool ModuleParser::version() {
  cur_.skip();
  uint32_t parts[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    if (!is_char(cur_.raw(), char_digit)) return unexpected("a version such as 9.0");
    while (is_char(cur_.raw(), char_digit)) {
      parts[i] = std::min(parts[i] * 10 + static_cast<uint32_t>(cur_.raw() - '0'), 10000u);
      cur_.advance();
    }
    if (i == 0) {
      if (cur_.raw() != '.') return unexpected("'.' in the version");
      cur_.advance();
    }
  }
  module_.version_major = parts[0];
  module_.version_minor = parts[1];
  if (parts[0] > newest_major || (parts[0] == newest_major && parts[1] > newest_minor))
    return fail(fmt::format("unsupported .version {}.{}; this reads up to {}.{}", parts[0], parts[1],
                            newest_major, newest_minor),
                Code::unsupported_ptx_version);
  return true;
}

bool ModuleParser::target() {
  do {
    cur_.skip();
    const std::string_view word = cur_.name();
    if (word.empty()) return unexpected("a target such as sm_80");
    const bool sm = word.starts_with("sm_"), compute = word.starts_with("compute_");
    if (sm || compute) {
      std::string_view digits = word.substr(sm ? 3 : 8);
      uint32_t number = 0;
      size_t n = 0;
      for (; n < digits.size() && n < 4 && is_char(digits[n], char_digit); ++n)
        number = number * 10 + static_cast<uint32_t>(digits[n] - '0');
      const std::string_view suffix = digits.substr(n);
      if (!n || (!suffix.empty() && suffix != "a" && suffix != "f"))
        return fail(fmt::format("unknown target '{}'", word));
      module_.target_sm = number;
      module_.target_suffix = suffix.empty() ? '\0' : suffix[0];
    } else if (word == "debug") {
      module_.target_debug = true;
    } else if (word != "texmode_unified" && word != "texmode_independent") {
      return fail(fmt::format("unsupported target option '{}'", word));
    }
  } while (cur_.eat(','));
  return true;
}

bool ModuleParser::address_size() {
  uint64_t bits;
  if (!integer(bits, 1024)) return false;
  if (bits != 64) return fail(fmt::format(".address_size {} is not supported, only 64", bits));
  module_.address_size = 64;
  return true;
}

/// `.file index "name" [, timestamp, size]`
bool ModuleParser::file() {
  uint64_t index, ignored;
  std::string_view path;
  if (!integer(index, 1u << 20) || !string(path)) return false;
  if (module_.files.size() <= index) {
    // An index far past the text's own length cannot come from a compiler.
    if (index > module_.text.size()) return fail(fmt::format(".file index {} is too large", index));
    module_.files.resize(index + 1);
  }
  module_.files[index] = std::string(path);
  while (cur_.eat(','))
    if (!integer(ignored, UINT64_MAX)) return false;
  return true;
}

bool ModuleParser::section_item() {
  cur_.skip();
  const std::string_view label = cur_.name();
  if (!label.empty()) return expect(':');
  const std::string_view word = cur_.peek_dotted();
  if (word != "b8" && word != "b16" && word != "b32" && word != "b64")
    return unexpected("section data");
  cur_.dotted();
  do {
    cur_.skip();
    Number ignored;
    std::string why;
    const std::string_view symbol = cur_.raw() == '.' ? cur_.dotted() : cur_.name();
    if (symbol.empty()) {
      if (!cur_.constant(ignored, why)) return fail(why);
    } else if (cur_.eat('+')) {
      if (!cur_.constant(ignored, why)) return fail(why);
    } else if (cur_.eat('-')) {
      cur_.skip();
      if (cur_.name().empty() && !cur_.constant(ignored, why)) return fail(why);
    }
  } while (cur_.eat(','));
  return true;
}

/// `.section .debug_info { ... }`: checked for its form, not kept.
bool ModuleParser::section() {
  cur_.skip();
  if (cur_.dotted().empty() && cur_.name().empty()) return unexpected("a section name");
  if (!expect('{')) return false;
  while (!cur_.eat('}')) {
    if (cur_.done()) return fail("section is not closed");
    if (!section_item()) return false;
  }
  return true;
}

bool ModuleParser::alias() {
  cur_.skip();
  Alias a{{}, {}, cur_.line(), cur_.column()};
  a.name = cur_.name();
  if (a.name.empty()) return unexpected("a function name");
  if (!expect(',')) return false;
  cur_.skip();
  a.target = cur_.name();
  if (a.target.empty()) return unexpected("a function name");
  aliases_.push_back(a);
  return expect(';');
}

bool ModuleParser::statement() {
  Linkage linkage = Linkage::internal;
  for (;;) {
    const std::string_view word = cur_.peek_dotted();
    if (word.empty()) {
      if (cur_.raw() == '@' && cur_.raw(1) == '@') {  // @@DWARF lines of PTX 1.x
        while (cur_.raw() && cur_.raw() != '\n') cur_.advance();
        return true;
      }
      return unexpected("a directive");
    }
    Linkage named = Linkage::internal;
    if (word == "visible") named = Linkage::visible;
    else if (word == "extern") named = Linkage::external;
    else if (word == "weak") named = Linkage::weak;
    else if (word == "common") named = Linkage::common;
    if (named != Linkage::internal) {
      if (linkage != Linkage::internal) return fail(fmt::format("second linkage '.{}'", word));
      linkage = named;
      cur_.dotted();
      continue;
    }
    const char* start = cur_.at();
    const uint32_t line = cur_.line();
    cur_.dotted();
    if (word == "entry") return function(true, linkage);
    if (word == "func") return function(false, linkage);
    if (word == "global") return variables(Space::global, linkage);
    if (word == "const") return variables(Space::constant, linkage);
    if (word == "shared") return variables(Space::shared, linkage);
    if (word == "local") return variables(Space::local, linkage);
    std::string_view ignored;
    if (linkage == Linkage::internal) {
      if (word == "address_size") return address_size();
      if (word == "file") return file();
      if (word == "section") return section();
      if (word == "alias") return alias();
      if (word == "pragma") return string(ignored) && expect(';');
    }
    cur_.move_to(start, line);
    return fail(fmt::format("unsupported directive '.{}'", word));
  }
}

/// `.attribute(.managed, .unified(1, 2))`
bool ModuleParser::attribute(bool& managed) {
  cur_.dotted();
  if (!expect('(')) return false;
  do {
    const std::string_view word = cur_.dotted();
    if (word == "managed") {
      managed = true;
    } else if (word == "unified") {
      uint64_t ignored;
      if (!expect('(') || !integer(ignored, UINT64_MAX) || !expect(',') ||
          !integer(ignored, UINT64_MAX) || !expect(')'))
        return false;
    } else {
      return fail(fmt::format("unknown attribute '.{}'", word));
    }
  } while (cur_.eat(','));
  return expect(')');
}

bool ModuleParser::variables(Space space, Linkage linkage) {
  if (cur_.peek() == '[') return fail("constant banks (.const[n]) are not supported");
  Variable v;
  v.space = space;
  v.linkage = linkage;
  if (cur_.peek_dotted() == "attribute") {
    if (space != Space::global) return fail("only .global variables have attributes");
    if (!attribute(v.managed)) return false;
  }
  if (space == Space::local) return fail(".local variables belong into functions");
  if (space != Space::global && linkage == Linkage::common)
    return fail("only .global variables can be .common");
  Declaration d;
  if (!declaration(d)) return false;
  for (;;) {
    const uint32_t column = cur_.column();
    if (!add_variable(v, column, d)) return false;
    if (!cur_.eat(',')) return expect(';');
    cur_.skip();
    d.name = cur_.name();
    if (d.name.empty()) return unexpected("a name");
    d.dims.clear();
    d.unsized = false;
    d.line = cur_.line();
    if (!dimensions(d) || !total_bytes(d)) return false;
  }
}

bool ModuleParser::add_variable(Variable v, uint32_t column, Declaration& d) {
  if (d.type == Type::pred) return fail("a variable cannot have type .pred");
  if (kind_of(d.type) == TypeKind::opaque && v.space != Space::global)
    return fail(fmt::format("a variable of type .{} belongs into .global", name(d.type)));
  v.name = std::string(d.name);
  v.type = d.type;
  v.vector = d.vector;
  v.align = d.align;
  v.bytes = d.bytes;
  v.line = d.line;
  Index index = static_cast<Index>(module_.variables.size());
  const auto found = module_.variable_index.find(v.name);
  const bool redeclared = found != module_.variable_index.end();
  if (redeclared) index = found->second;
  if (module_.function_index.count(v.name))
    return fail_at(d.line, column, fmt::format("'{}' is a function already", d.name));
  if (cur_.eat('=')) {
    if (v.space == Space::shared || v.space == Space::local)
      return fail(fmt::format("'{}' cannot have an initialiser in its state space", d.name));
    if (v.linkage == Linkage::external)
      return fail(fmt::format("external '{}' cannot have an initialiser", d.name));
    if (!initialiser(v, d, index, pending_)) return false;
  } else if (!d.bytes && v.linkage != Linkage::external) {
    return fail_at(d.line, column, fmt::format("array '{}' has no size", d.name));
  }
  if (!redeclared) {
    module_.variable_index.emplace(v.name, index);
    module_.variables.push_back(std::move(v));
    return true;
  }
  Variable& old = module_.variables[index];
  const bool old_declares = old.linkage == Linkage::external;
  const bool new_declares = v.linkage == Linkage::external;
  const bool merges = old_declares || new_declares ||
                      (v.linkage == Linkage::common && old.linkage == Linkage::common &&
                       v.init.empty());
  if (!merges)
    return fail_at(d.line, column,
                   fmt::format("'{}' was defined in line {} already", d.name, old.line));
  if (old.space != v.space || old.type != v.type || (old.bytes && v.bytes && old.bytes != v.bytes))
    return fail_at(d.line, column, fmt::format("'{}' differs from its declaration in line {}",
                                               d.name, old.line));
  if (old_declares && !(new_declares && old.bytes)) old = std::move(v);
  return true;
}

bool ModuleParser::three(std::array<uint32_t, 3>& out) {
  out = {1, 1, 1};
  for (size_t i = 0; i < 3; ++i) {
    uint64_t n;
    if (!integer(n, UINT32_MAX)) return false;
    if (!n) return fail("a number of threads or blocks cannot be 0");
    out[i] = static_cast<uint32_t>(n);
    if (i < 2 && !cur_.eat(',')) break;
  }
  return true;
}

bool ModuleParser::function_directive(Function& f, bool& found) {
  found = true;
  const std::string_view word = cur_.peek_dotted();
  uint64_t n = 0;
  std::string_view text;
  auto number = [&](uint32_t& out) {
    if (!integer(n, UINT32_MAX)) return false;
    if (!n) return fail(fmt::format("'.{}' cannot be 0", word));
    out = static_cast<uint32_t>(n);
    return true;
  };
  auto take = [&](std::string_view w) {
    if (word != w) return false;
    cur_.dotted();
    return true;
  };
  if (!f.is_entry) {
    if (take("noreturn")) return f.noreturn = true;
    if (take("abi_preserve") || take("abi_preserve_control")) return integer(n, UINT32_MAX);
    found = false;
    return true;
  }
  if (take("maxntid")) return three(f.max_ntid);
  if (take("reqntid")) return three(f.req_ntid);
  if (take("reqnctapercluster")) return three(f.req_cluster);
  if (take("minnctapersm")) return number(f.min_ctapersm);
  if (take("maxnreg")) return number(f.max_nreg);
  if (take("maxclusterrank")) {
    if (!integer(n, UINT32_MAX)) return false;
    f.max_cluster_rank = static_cast<uint32_t>(n);
    return true;
  }
  if (take("explicitcluster")) return f.explicit_cluster = true;
  if (take("blocksareclusters")) return f.blocks_are_clusters = true;
  if (take("pragma")) return string(text) && expect(';');
  found = false;
  return true;
}

/// Directives of an entry that exclude or need each other.
bool ModuleParser::check_directives(const Function& f) {
  if (f.max_ntid[0] && f.req_ntid[0]) return fail(".maxntid and .reqntid exclude each other");
  if (f.req_cluster[0] && f.max_cluster_rank)
    return fail(".reqnctapercluster and .maxclusterrank exclude each other");
  if (f.blocks_are_clusters && !(f.req_ntid[0] && f.req_cluster[0]))
    return fail(".blocksareclusters needs .reqntid and .reqnctapercluster");
  return true;
}

bool ModuleParser::lay_out_params(Function& f) {
  uint64_t at = 0;
  for (Param& p : f.params) {
    at = (at + p.align - 1) / p.align * p.align;
    p.offset = at;
    at += p.bytes;
    if (at > max_param_bytes)
      return fail(fmt::format("parameters of '{}' take more than {} bytes", f.name,
                              max_param_bytes));
  }
  f.param_bytes = at;
  return true;
}

bool ModuleParser::function(bool is_entry, Linkage linkage) {
  Function f;
  f.is_entry = is_entry;
  f.linkage = linkage;
  bool found = false, managed = false;
  if (linkage == Linkage::common) return fail("a function cannot be .common");
  if (!is_entry && cur_.peek_dotted() == "attribute" && !attribute(managed)) return false;
  const Owner owner = is_entry ? Owner::entry : Owner::function;
  if (!is_entry && cur_.peek() == '(' && !params(f.returns, owner)) return false;
  if (f.returns.size() > 1) return fail("a function returns at most one value");
  cur_.skip();
  const uint32_t column = cur_.column();
  f.line = cur_.line();
  f.name = std::string(cur_.name());
  if (f.name.empty()) return unexpected("a function name");
  if (cur_.peek() == '(' && !params(f.params, owner)) return false;
  if (is_entry && !lay_out_params(f)) return false;
  do
    if (!function_directive(f, found)) return false;
  while (found);
  if (!check_directives(f)) return false;
  if (cur_.peek() == '{') {
    if (linkage == Linkage::external)
      return fail(fmt::format("external function '{}' cannot have a body", f.name));
    if (!skip_body(f)) return false;
  } else if (!cur_.eat(';')) {
    return unexpected("';' or '{'");
  }
  return merge(std::move(f), column);
}

bool ModuleParser::merge(Function f, uint32_t column) {
  if (module_.variable_index.count(f.name))
    return fail_at(f.line, column, fmt::format("'{}' is a variable already", f.name));
  const auto [it, fresh] = module_.function_index.emplace(
      f.name, static_cast<Index>(module_.functions.size()));
  if (fresh) {
    module_.functions.push_back(std::move(f));
    return true;
  }
  Function& old = module_.functions[it->second];
  if (old.is_entry != f.is_entry || old.params.size() != f.params.size() ||
      old.returns.size() != f.returns.size())
    return fail_at(f.line, column, fmt::format("'{}' differs from its declaration in line {}",
                                               f.name, old.line));
  if (old.has_body && f.has_body)
    return fail_at(f.line, column,
                   fmt::format("'{}' was defined in line {} already", f.name, old.line));
  const bool noreturn = old.noreturn || f.noreturn;
  if (f.has_body) old = std::move(f);
  old.noreturn = noreturn;
  return true;
}

/// Finds the brace that closes the body; comments and strings may hold braces.
bool ModuleParser::skip_body(Function& f) {
  const uint32_t open_line = cur_.line(), open_column = cur_.column();
  cur_.advance();
  const char* const text = module_.text.data();
  const char *p = cur_.at(), *end = cur_.end();
  uint32_t line = cur_.line();
  f.has_body = true;
  f.body_begin = static_cast<size_t>(p - text);
  f.body_line = line;
  size_t depth = 1;
  static constexpr auto special = [] {
    std::array<bool, 256> t{};
    for (char c : {'{', '}', '"', '/', '\n'}) t[static_cast<uint8_t>(c)] = true;
    return t;
  }();
  for (; p < end; ++p) {
    if (!special[static_cast<uint8_t>(*p)]) continue;
    if (*p == '\n') {
      ++line;
    } else if (*p == '{') {
      ++depth;
    } else if (*p == '}') {
      if (--depth) continue;
      f.body_end = static_cast<size_t>(p - text);
      cur_.move_to(p + 1, line);
      return true;
    } else if (*p == '"') {
      for (++p; p < end && *p != '"' && *p != '\n'; ++p)
        if (*p == '\\' && p + 1 < end && p[1] != '\n') ++p;
      if (p < end && *p == '\n') ++line;
    } else {
      Cursor comment(text, p, end, line);
      comment.skip();
      if (comment.at() == p) continue;
      p = comment.at() - 1;
      line = comment.line();
    }
  }
  return fail_at(open_line, open_column, fmt::format("body of '{}' is not closed", f.name));
}

bool ModuleParser::bind_aliases() {
  for (const Alias& a : aliases_) {
    const auto target = module_.function_index.find(std::string(a.target));
    const auto name = module_.function_index.find(std::string(a.name));
    if (target == module_.function_index.end() || !module_.functions[target->second].has_body)
      return fail_at(a.line, a.column,
                     fmt::format("alias target '{}' is not a defined function", a.target));
    if (name == module_.function_index.end() || module_.functions[name->second].has_body)
      return fail_at(a.line, a.column,
                     fmt::format("alias '{}' must be declared and not defined", a.name));
    name->second = target->second;
  }
  return true;
}

bool ModuleParser::bind_pending() {
  for (const PendingSymbol& p : pending_) {
    Reloc& reloc = module_.variables[p.variable].relocs[p.reloc];
    const std::string key(p.name);
    if (auto v = module_.variable_index.find(key); v != module_.variable_index.end()) {
      reloc.kind = Operand::SymbolKind::variable;
      reloc.symbol = v->second;
      const Space space = module_.variables[v->second].space;
      if (space != Space::global && space != Space::constant)
        return fail_at(p.line, p.column,
                       fmt::format("'{}' is neither in .global nor in .const", p.name));
    } else if (auto f = module_.function_index.find(key); f != module_.function_index.end()) {
      reloc.kind = Operand::SymbolKind::function;
      reloc.symbol = f->second;
      if (reloc.generic)
        return fail_at(p.line, p.column, fmt::format("function '{}' has no generic address", p.name));
    } else {
      return fail_at(p.line, p.column, fmt::format("undefined symbol '{}'", p.name));
    }
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<Module>> parse_module(std::string text) {
  auto module = std::make_unique<Module>();
  // Images are C strings; what follows the first NUL is padding.
  if (const size_t nul = text.find('\0'); nul != std::string::npos) text.resize(nul);
  module->text = std::move(text);
  if (module->text.size() > UINT32_MAX)
    return Error{Code::invalid_ptx, "PTX text is larger than 4 GiB", {}};
  ModuleParser parser(*module);
  if (!parser.run()) return parser.take_error();
  return module;
}

}  // namespace limen::ptx
