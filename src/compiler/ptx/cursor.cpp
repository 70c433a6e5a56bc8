// Readers of PTX's lexical level. Nothing here allocates except messages. Expression depth is bounded,
// so hostile text cannot exhaust the stack. No shared state; one thread per Cursor.
#include "compiler/ptx/cursor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace limen::ptx {
namespace {

constexpr int max_expression_depth = 64;
constexpr std::ptrdiff_t max_column = 1000;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

enum BinaryOp { op_or_or, op_and_and, op_or, op_xor, op_and, op_eq, op_ne, op_lt, op_le, op_gt, op_ge,
                op_shl, op_shr, op_add, op_sub, op_mul, op_div, op_rem };
constexpr int levels[] = {1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 7, 8, 8, 9, 9, 10, 10, 10};

/// Result of a constant operator; false for a division by zero.
bool apply(int op, const Number& a, const Number& b, Number& out) {
  const bool u = a.is_unsigned || b.is_unsigned;
  const uint64_t x = a.bits, y = b.bits;
  const int64_t sx = static_cast<int64_t>(x), sy = static_cast<int64_t>(y);
  out = {};
  out.is_unsigned = u;
  auto truth = [&](bool value) {
    out.bits = value;
    out.is_unsigned = false;
  };
  switch (op) {
    case op_or_or: truth(x || y); break;
    case op_and_and: truth(x && y); break;
    case op_or: out.bits = x | y; break;
    case op_xor: out.bits = x ^ y; break;
    case op_and: out.bits = x & y; break;
    case op_eq: truth(x == y); break;
    case op_ne: truth(x != y); break;
    case op_lt: truth(u ? x < y : sx < sy); break;
    case op_le: truth(u ? x <= y : sx <= sy); break;
    case op_gt: truth(u ? x > y : sx > sy); break;
    case op_ge: truth(u ? x >= y : sx >= sy); break;
    case op_shl:
      out.bits = y < 64 ? x << y : 0;
      out.is_unsigned = a.is_unsigned;
      break;
    case op_shr:
      out.is_unsigned = a.is_unsigned;
      if (a.is_unsigned) out.bits = y < 64 ? x >> y : 0;
      else out.bits = static_cast<uint64_t>(sx >> std::min<uint64_t>(y, 63));
      break;
    case op_add: out.bits = x + y; break;
    case op_sub: out.bits = x - y; break;
    case op_mul: out.bits = x * y; break;
    case op_div:
    case op_rem:
      if (y == 0) return false;
      if (u) out.bits = op == op_div ? x / y : x % y;
      else if (sy == -1) out.bits = op == op_div ? 0 - x : 0;
      else out.bits = static_cast<uint64_t>(op == op_div ? sx / sy : sx % sy);
      break;
  }
  return true;
}

}  // namespace

void Cursor::skip_blanks() {
  for (;;) {
    while (at_ < end_ && is_char(*at_, char_blank)) {
      if (*at_ == '\n') ++line_;
      ++at_;
    }
    if (at_ >= end_ || *at_ != '/' || end_ - at_ < 2) return;
    if (at_[1] == '/') {
      const void* eol = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
      at_ = eol ? static_cast<const char*>(eol) : end_;
    } else if (at_[1] == '*') {
      const char* p = at_ + 2;
      while (p < end_ && !(*p == '*' && p + 1 < end_ && p[1] == '/')) {
        if (*p == '\n') ++line_;
        ++p;
      }
      at_ = p < end_ ? p + 2 : end_;
    } else {
      return;
    }
  }
}

std::string_view Cursor::name() {
  skip();
  if (at_ >= end_ || !is_char(*at_, char_name_start)) return {};
  const char* start = at_++;
  while (at_ < end_ && is_char(*at_, char_name)) ++at_;
  return {start, static_cast<size_t>(at_ - start)};
}

std::string_view Cursor::dotted() {
  const std::string_view word = peek_dotted();
  if (!word.empty()) at_ += word.size() + 1;
  return word;
}

std::string_view Cursor::peek_dotted() {
  skip();
  if (at_ >= end_ || *at_ != '.') return {};
  const char* p = at_ + 1;
  while (p < end_) {
    if (is_char(*p, char_name)) ++p;
    else if (*p == ':' && end_ - p > 2 && p[1] == ':' && is_char(p[2], char_name)) p += 2;
    else break;
  }
  return {at_ + 1, static_cast<size_t>(p - at_ - 1)};
}

bool Cursor::eat_word(std::string_view word) {
  skip();
  const char* start = at_;
  const std::string_view got = name();
  if (got == word) return true;
  at_ = start;
  return false;
}

bool Cursor::string(std::string_view& out) {
  if (peek() != '"') return false;
  const char* p = at_ + 1;
  while (p < end_ && *p != '"' && *p != '\n') {
    if (*p == '\\' && p + 1 < end_) ++p;
    ++p;
  }
  if (p >= end_ || *p != '"') return false;
  out = {at_ + 1, static_cast<size_t>(p - at_ - 1)};
  at_ = p + 1;
  return true;
}

bool Cursor::hex_float(Number& out) {
  const bool is_double = at_[1] == 'd' || at_[1] == 'D';
  const size_t digits = is_double ? 16 : 8;
  if (static_cast<size_t>(end_ - at_) < digits + 2) return false;
  uint64_t bits = 0;
  for (size_t i = 0; i < digits; ++i) {
    const int v = hex_value(at_[2 + i]);
    if (v > 15) return false;
    bits = bits << 4 | static_cast<uint64_t>(v);
  }
  if (is_char(raw(2 + digits), char_name)) return false;
  at_ += 2 + digits;
  out = {is_double ? Number::Kind::f64 : Number::Kind::f32, false, bits};
  return true;
}

bool Cursor::decimal_float(Number& out) {
  const char* p = at_;
  auto digits = [&] {
    while (p < end_ && is_char(*p, char_digit)) ++p;
  };
  digits();
  bool is_float = false;
  if (p < end_ && *p == '.') {
    is_float = true;
    ++p;
    digits();
  }
  if (p < end_ && (*p == 'e' || *p == 'E')) {
    const char* mark = p++;
    if (p < end_ && (*p == '+' || *p == '-')) ++p;
    const char* first = p;
    digits();
    if (p == first) p = mark;
    else is_float = true;
  }
  if (!is_float || (p < end_ && is_char(*p, char_name)) || p - at_ > 400) return false;
  double value = 0;
  const auto result = std::from_chars(at_, p, value);
  // Out of range: from_chars leaves the value; C's strtod gives the infinity or zero that is meant.
  if (result.ec == std::errc::result_out_of_range)
    value = std::strtod(std::string(at_, p).c_str(), nullptr);
  else if (result.ec != std::errc{} || result.ptr != p)
    return false;
  at_ = p;
  out = {Number::Kind::f64, false, std::bit_cast<uint64_t>(value)};
  return true;
}

bool Cursor::literal(Number& out) {
  skip();
  if (!is_char(raw(), char_digit) && !(raw() == '.' && is_char(raw(1), char_digit))) return false;
  int base = 10;
  const char* p = at_;
  if (*p == '0') {
    const char x = raw(1);
    if (x == 'f' || x == 'F' || x == 'd' || x == 'D') return hex_float(out);
    if (x == 'x' || x == 'X') base = 16;
    else if (x == 'b' || x == 'B') base = 2;
    if (base != 10) p += 2;
  }
  if (base == 10 && decimal_float(out)) return true;
  if (base == 10 && *p == '0') base = 8;
  uint64_t value = 0;
  const char* first = p;
  for (; p < end_; ++p) {
    const int digit = hex_value(*p);
    if (digit >= base) break;
    uint64_t scaled;
    if (__builtin_mul_overflow(value, static_cast<uint64_t>(base), &scaled) ||
        __builtin_add_overflow(scaled, static_cast<uint64_t>(digit), &value))
      return false;
  }
  if (p == first) return false;
  bool is_unsigned = value > static_cast<uint64_t>(INT64_MAX);
  if (p < end_ && *p == 'U') {
    is_unsigned = true;
    ++p;
  }
  if (p < end_ && is_char(*p, char_name)) return false;
  at_ = p;
  out = {Number::Kind::integer, is_unsigned, value};
  return true;
}

bool Cursor::primary(Number& out, int depth, std::string& error) {
  if (eat('(')) {
    const std::string_view cast = peek_dotted();
    if (cast == "s64" || cast == "u64") {
      dotted();
      if (!eat(')')) {
        error = "expected ')' after the cast";
        return false;
      }
      if (!unary(out, depth + 1, error)) return false;
      out.is_unsigned = cast == "u64";
      return true;
    }
    if (!expression(out, 0, depth + 1, error)) return false;
    if (eat(')')) return true;
    error = "expected ')'";
    return false;
  }
  if (eat_word("WARP_SZ")) {
    out = {Number::Kind::integer, false, 32};
    return true;
  }
  if (literal(out)) return true;
  error = "expected a constant";
  return false;
}

bool Cursor::unary(Number& out, int depth, std::string& error) {
  if (depth > max_expression_depth) {
    error = "constant expression nested too deeply";
    return false;
  }
  const char c = peek();
  if (c != '-' && c != '+' && c != '!' && c != '~') return primary(out, depth, error);
  advance();
  if ((c == '-' || c == '+') && peek() == '0' && std::strchr("fFdD", raw(1)) && raw(1)) {
    error = "a sign before a hexadecimal floating-point constant";
    return false;
  }
  if (!unary(out, depth + 1, error)) return false;
  if (out.kind != Number::Kind::integer) {
    if (c == '!' || c == '~') {
      error = "operator needs an integer";
      return false;
    }
    if (c == '-') out.bits ^= out.kind == Number::Kind::f32 ? uint64_t{1} << 31 : uint64_t{1} << 63;
    return true;
  }
  if (c == '-') out.bits = 0 - out.bits;
  else if (c == '~') out.bits = ~out.bits;
  else if (c == '!') out = {Number::Kind::integer, false, !out.bits};
  return true;
}

int Cursor::binary_operator(size_t& length) {
  const char c = peek(), d = raw(1);
  length = 1;
  auto two = [&](int op) {
    length = 2;
    return op;
  };
  switch (c) {
    case '|': return d == '|' ? two(op_or_or) : op_or;
    case '&': return d == '&' ? two(op_and_and) : op_and;
    case '^': return op_xor;
    case '=': return d == '=' ? two(op_eq) : -1;
    case '!': return d == '=' ? two(op_ne) : -1;
    case '<': return d == '<' ? two(op_shl) : d == '=' ? two(op_le) : op_lt;
    case '>': return d == '>' ? two(op_shr) : d == '=' ? two(op_ge) : op_gt;
    case '+': return op_add;
    case '-': return op_sub;
    case '*': return op_mul;
    case '/': return op_div;
    case '%': return is_char(d, char_name_start) ? -1 : op_rem;
    default: return -1;
  }
}

bool Cursor::expression(Number& out, int min_level, int depth, std::string& error) {
  if (!unary(out, depth, error)) return false;
  for (;;) {
    size_t length;
    const int op = binary_operator(length);
    if (op < 0 || levels[op] < min_level) break;
    advance(length);
    Number right;
    if (!expression(right, levels[op] + 1, depth + 1, error)) return false;
    if (out.kind != Number::Kind::integer || right.kind != Number::Kind::integer) {
      error = "operator needs integers";
      return false;
    }
    const Number left = out;
    if (!apply(op, left, right, out)) {
      error = "division by zero in a constant expression";
      return false;
    }
  }
  if (min_level == 0 && eat('?')) {
    Number yes, no;
    if (!expression(yes, 0, depth + 1, error)) return false;
    if (!eat(':')) {
      error = "expected ':'";
      return false;
    }
    if (!expression(no, 0, depth + 1, error)) return false;
    out = out.bits ? yes : no;
  }
  return true;
}

bool Cursor::constant(Number& out, std::string& error) { return expression(out, 0, 0, error); }

bool Cursor::integer(uint64_t& out, uint64_t limit, std::string& error) {
  Number number;
  if (!constant(number, error)) return false;
  const bool negative = !number.is_unsigned && static_cast<int64_t>(number.bits) < 0;
  if (number.kind != Number::Kind::integer || negative || number.bits > limit) {
    error = "expected an integer between 0 and " + std::to_string(limit);
    return false;
  }
  out = number.bits;
  return true;
}

std::string Cursor::token_here() {
  skip();
  if (at_ >= end_) return "end of text";
  const char* p = at_;
  if (is_char(*p, char_name) || *p == '.')
    do ++p;
    while (p < end_ && (is_char(*p, char_name) || *p == '.' || *p == ':') && p - at_ < 60);
  else
    ++p;
  std::string text(at_, p);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
  return text;
}

uint32_t Cursor::column() const {
  // Bounded, since declarations note their column: a module on one line must not cost quadratic time.
  const char* p = at_;
  while (p > begin_ && p[-1] != '\n' && at_ - p < max_column) --p;
  return static_cast<uint32_t>(at_ - p) + 1;
}

}  // namespace limen::ptx
