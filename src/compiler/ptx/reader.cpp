// Declarations and initialisers, as both parsers need them. Sizes are checked before anything is
// allocated: an array of 2^60 bytes is an error, an initialiser may touch at most 256 MiB.
// No shared state; one thread per Reader.
#include "compiler/ptx/reader.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace limen::ptx {

bool Reader::fail_at(uint32_t line, uint32_t column, const std::string& what, Code code) {
  if (!error_)
    error_ = std::make_unique<Error>(
        Error{code, fmt::format("line {}, column {}: {}", line, column, what), {}});
  return false;
}

bool Reader::unexpected(std::string_view what) {
  return fail(fmt::format("unexpected '{}', expected {}", cur_.token_here(), what));
}

bool Reader::expect(char c) {
  if (cur_.eat(c)) return true;
  return unexpected(fmt::format("'{}'", c));
}

bool Reader::integer(uint64_t& out, uint64_t limit) {
  cur_.skip();
  const char* const start = cur_.at();
  const uint32_t line = cur_.line();
  std::string why;
  if (cur_.integer(out, limit, why)) return true;
  cur_.move_to(start, line);
  return fail(fmt::format("{}, found '{}'", why, cur_.token_here()));
}

bool Reader::string(std::string_view& out) {
  cur_.skip();
  return cur_.string(out) || unexpected("a string");
}

bool Reader::type(Type& out) {
  const std::string_view word = cur_.peek_dotted();
  if (word.empty()) return unexpected("a type");
  if (!find_type(word, out)) return fail(fmt::format("unknown type '.{}'", word));
  cur_.dotted();
  return true;
}

bool Reader::alignment(uint32_t& out) {
  uint64_t value;
  cur_.skip();
  const uint32_t line = cur_.line(), column = cur_.column();
  if (!integer(value, 1u << 20)) return false;
  if (!std::has_single_bit(value))
    return fail_at(line, column, fmt::format("alignment {} is not a power of two", value));
  out = static_cast<uint32_t>(value);
  return true;
}

bool Reader::dimensions(Declaration& d) {
  while (cur_.eat('[')) {
    if (d.dims.size() == max_dimensions) return fail("array has too many dimensions");
    if (cur_.eat(']')) {
      if (!d.dims.empty()) return fail("only the first dimension of an array may be empty");
      d.unsized = true;
      d.dims.push_back(0);
      continue;
    }
    Number n;
    cur_.skip();
    if (!cur_.literal(n) || n.kind != Number::Kind::integer || n.bits > max_variable_bytes)
      return unexpected(fmt::format("an integer between 0 and {}", max_variable_bytes));
    // A zero-sized array is legal for parameters of no bytes; it is an empty object elsewhere.
    d.dims.push_back(n.bits);
    if (!expect(']')) return false;
  }
  return true;
}

bool Reader::total_bytes(Declaration& d) {
  uint64_t bytes = uint64_t{size_of(d.type)} * d.vector;
  for (uint64_t n : d.dims)
    if (__builtin_mul_overflow(bytes, n, &bytes) || bytes > max_variable_bytes)
      return fail(fmt::format("array '{}' is larger than {} bytes", d.name, max_variable_bytes));
  d.bytes = bytes;
  return true;
}

bool Reader::attributes_of_pointer() {
  for (;;) {
    const std::string_view next = cur_.peek_dotted();
    uint32_t ignored;
    if (next == "global" || next == "const" || next == "local" || next == "shared" ||
        next == "texref" || next == "samplerref" || next == "surfref") {
      cur_.dotted();
    } else if (next == "align") {
      cur_.dotted();
      if (!alignment(ignored)) return false;
    } else {
      return true;
    }
  }
}

bool Reader::declaration(Declaration& d, bool may_omit_name, bool may_point) {
  cur_.skip();
  d.line = cur_.line();
  while (cur_.peek_dotted() == "align") {
    cur_.dotted();
    if (!alignment(d.align)) return false;
  }
  if (const std::string_view word = cur_.peek_dotted(); word == "v2" || word == "v4") {
    cur_.dotted();
    d.vector = static_cast<uint8_t>(word[1] - '0');
  }
  if (!type(d.type)) return false;
  if (kind_of(d.type) == TypeKind::packed && d.type != Type::f16x2)
    return fail(fmt::format("type .{} is for instructions only", name(d.type)));
  if (may_point && cur_.peek_dotted() == "ptr") {
    cur_.dotted();
    if (!attributes_of_pointer()) return false;
  }
  cur_.skip();
  d.name = cur_.name();
  if (d.name.empty() && !may_omit_name) return unexpected("a name");
  if (!dimensions(d) || !total_bytes(d)) return false;
  const size_t natural = size_of(d.type) * d.vector;
  if (d.vector > 1 && natural > 16)
    return fail(fmt::format("a vector of {} .{} is larger than 16 bytes", d.vector, name(d.type)));
  if (!d.align) d.align = static_cast<uint32_t>(std::bit_ceil(natural));
  return true;
}

bool Reader::one_param(Param& out, Owner owner) {
  cur_.skip();
  const std::string_view space = cur_.peek_dotted();
  if (space != "param" && !(space == "reg" && owner != Owner::entry)) return unexpected("'.param'");
  cur_.dotted();
  out.space = space == "reg" ? Space::reg : Space::param;
  Declaration d;
  if (!declaration(d, owner == Owner::prototype, owner == Owner::entry)) return false;
  if (d.name == "_" && owner != Owner::prototype) return fail("a parameter cannot be called '_'");
  if (d.vector > 1) return fail(fmt::format("parameter '{}' cannot be a vector", d.name));
  if (out.space == Space::reg && !d.dims.empty()) return fail("a register parameter is no array");
  // As ptxas says: small values are passed in 32 bits or in arrays of bytes.
  const bool opaque = kind_of(d.type) == TypeKind::opaque;
  const bool small = size_of(d.type) < 4 && d.type != Type::f16 && d.dims.empty();
  if (owner == Owner::function && (small || opaque))
    return fail(fmt::format("parameter '{}' of a function cannot have type .{}", d.name,
                            name(d.type)));
  if (out.space == Space::param && d.type == Type::pred)
    return fail("a .param variable cannot have type .pred");
  if (owner == Owner::entry && !d.bytes)
    return fail(fmt::format("parameter '{}' of an entry has no size", d.name));
  if (d.bytes > max_param_bytes)
    return fail(fmt::format("parameter '{}' is larger than {} bytes", d.name, max_param_bytes));
  out.name = std::string(d.name);
  out.type = d.type;
  out.align = d.align;
  out.bytes = d.bytes;
  return true;
}

bool Reader::params(std::vector<Param>& out, Owner owner) {
  if (!expect('(')) return false;
  if (cur_.eat(')')) return true;
  do {
    if (out.size() == max_params) return fail(fmt::format("more than {} parameters", max_params));
    Param p;
    if (!one_param(p, owner)) return false;
    for (const Param& q : out)
      if (owner == Owner::entry && q.name == p.name)
        return fail(fmt::format("duplicate parameter '{}'", p.name));
    out.push_back(std::move(p));
  } while (cur_.eat(','));
  return expect(')');
}

/// Makes room in the initial bytes; all variables of the module share one limit.
bool Reader::reserve(Init& init, uint64_t bytes) {
  std::vector<uint8_t>& data = init.v.init;
  if (data.size() >= bytes) return true;
  const uint64_t more = bytes - data.size();
  if (more > max_initialised_bytes - initialised_bytes_)
    return fail(fmt::format("the module's initialisers take more than {} bytes",
                            max_initialised_bytes));
  initialised_bytes_ += more;
  data.resize(bytes);
  return true;
}

bool Reader::write_number(Init& init, uint64_t offset, const Number& number) {
  const Type t = init.d.type;
  const size_t size = size_of(t);
  uint64_t bits = number.bits;
  if (number.kind == Number::Kind::integer && (t == Type::f32 || t == Type::f64))
    return fail(fmt::format("integer initialiser for type .{}", name(t)));
  if (t == Type::f32) {
    if (number.kind == Number::Kind::f64)
      bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  } else if (t == Type::f64) {
    if (number.kind == Number::Kind::f32)
      bits = std::bit_cast<uint64_t>(
          static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  } else if (number.kind != Number::Kind::integer) {
    // As ptxas does: a double literal becomes a float in .b32; other literals keep their bits.
    if (kind_of(t) != TypeKind::bits || (size != 4 && size != 8))
      return fail(fmt::format("floating-point initialiser for type .{}", name(t)));
    if (size == 4 && number.kind == Number::Kind::f64)
      bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  }
  if (!reserve(init, offset + size)) return false;
  std::memcpy(init.v.init.data() + offset, &bits, std::min<size_t>(size, 8));
  return true;
}

bool Reader::write_symbol(Init& init, uint64_t offset, bool masked, uint8_t shift) {
  Reloc reloc;
  reloc.offset = offset;
  reloc.bytes = static_cast<uint8_t>(size_of(init.d.type));
  reloc.shift = shift;
  cur_.skip();
  const uint32_t line = cur_.line(), column = cur_.column();
  std::string_view symbol = cur_.name();
  if (symbol == "generic" && cur_.peek() == '(') {
    reloc.generic = true;
    cur_.advance();
    cur_.skip();
    symbol = cur_.name();
    if (!expect(')')) return false;
  }
  if (symbol.empty()) return unexpected("a symbol");
  // Whole addresses go into .u32 and .u64; a mask takes one byte, the rest of the element is zero.
  if (kind_of(init.d.type) != TypeKind::unsigned_ || (reloc.bytes < 4 && !masked))
    return fail(fmt::format("address of '{}' cannot initialise type .{}", symbol,
                            name(init.d.type)));
  if (cur_.peek() == '+') {
    cur_.advance();
    Number n;
    std::string why;
    if (!cur_.constant(n, why)) return fail(why);
    if (n.kind != Number::Kind::integer) return fail("offset must be an integer");
    reloc.addend = static_cast<int64_t>(n.bits);
  }
  if (!reserve(init, offset + reloc.bytes)) return false;
  if (masked) reloc.bytes = 1;
  init.v.relocs.push_back(reloc);
  init.pending.push_back({init.variable, init.v.relocs.size() - 1, symbol, line, column});
  return true;
}

bool Reader::scalar(Init& init, uint64_t offset) {
  const char c = cur_.peek();
  if (is_char(c, char_name_start)) {
    const char* start = cur_.at();
    const uint32_t line = cur_.line();
    const std::string_view word = cur_.name();
    cur_.move_to(start, line);
    if (word != "WARP_SZ") return write_symbol(init, offset, false, 0);
  }
  Number number;
  std::string why;
  if (!cur_.constant(number, why))
    return fail(fmt::format("{}, found '{}'", why, cur_.token_here()));
  if (cur_.peek() == '(') {
    const int shift = number.bits ? std::countr_zero(number.bits) : 0;
    if (number.kind != Number::Kind::integer || number.bits >> shift != 0xff || shift % 8)
      return fail("a mask must select one byte");
    cur_.advance();
    return write_symbol(init, offset, true, static_cast<uint8_t>(shift)) && expect(')');
  }
  return write_number(init, offset, number);
}

/// One { } level; `limit` bytes are available at `base` (0: unsized). `used` tells the bytes taken.
bool Reader::aggregate(Init& init, size_t level, uint64_t base, uint64_t limit, uint64_t& used) {
  if (!expect('{')) return false;
  uint64_t stride = size_of(init.d.type);
  const size_t levels = init.d.dims.size() + (init.d.vector > 1);
  if (level + 1 < levels) {
    stride *= init.d.vector;
    for (size_t i = level + 1; i < init.d.dims.size(); ++i) stride *= init.d.dims[i];
  }
  const uint64_t element = size_of(init.d.type);
  used = 0;
  const bool is_vector = init.d.vector > 1 && level + 1 == levels;
  if (!is_vector && cur_.eat('}')) return true;
  do {
    const bool nested = cur_.peek() == '{';
    if (nested && level + 1 >= levels) return fail("initialiser has too many nested braces");
    if (!nested && level + 1 < levels)
      return fail(fmt::format("the initialiser of '{}' lacks inner braces", init.d.name));
    if (nested) used = (used + stride - 1) / std::max<uint64_t>(stride, 1) * stride;
    if (limit && used + (nested ? stride : element) > limit)
      return fail(fmt::format("too many initialisers for '{}'", init.d.name));
    if (nested) {
      uint64_t inner;
      if (!aggregate(init, level + 1, base + used, stride, inner)) return false;
      used += stride;
    } else {
      if (!scalar(init, base + used)) return false;
      used += element;
    }
  } while (cur_.eat(','));
  if (is_vector && used != element * init.d.vector)
    return fail(fmt::format("a vector of '{}' must have {} initialisers", init.d.name,
                            init.d.vector));
  return expect('}');
}

bool Reader::initialiser(Variable& v, Declaration& d, Index variable,
                         std::vector<PendingSymbol>& pending) {
  if (kind_of(d.type) == TypeKind::opaque) return sampler_initialiser();
  if (d.type == Type::f16 || d.type == Type::f16x2)
    return fail(fmt::format("variables of type .{} cannot be initialised", name(d.type)));
  Init init{v, d, variable, pending};
  const bool scalar_type = d.dims.empty() && d.vector == 1;
  if (scalar_type) return scalar(init, 0);
  uint64_t used = 0;
  if (!d.unsized && !d.bytes) return fail(fmt::format("'{}' has no bytes to initialise", d.name));
  if (!aggregate(init, 0, 0, d.bytes, used)) return false;
  if (d.unsized) {
    uint64_t stride = uint64_t{size_of(d.type)} * d.vector;
    for (size_t i = 1; i < d.dims.size(); ++i) stride *= d.dims[i];
    if (!stride) return fail(fmt::format("'{}' has no bytes to initialise", d.name));
    d.dims[0] = (used + stride - 1) / stride;
    d.unsized = false;
    if (!total_bytes(d)) return false;
    v.bytes = d.bytes;
  }
  return true;
}

/// `{ filter_mode = nearest, addr_mode_0 = wrap, ... }` of texture, sampler and surface variables.
bool Reader::sampler_initialiser() {
  if (!expect('{')) return false;
  if (cur_.eat('}')) return true;
  do {
    cur_.skip();
    if (cur_.name().empty()) return unexpected("an attribute name");
    if (!expect('=')) return false;
    uint64_t ignored;
    if (is_char(cur_.peek(), char_name_start)) cur_.name();
    else if (!integer(ignored, UINT32_MAX)) return false;
  } while (cur_.eat(','));
  return expect('}');
}

}  // namespace limen::ptx
