// A position in PTX text and the smallest readers: blanks, comments, names, numbers, constant
// expressions. It knows no PTX grammar beyond that and keeps no tokens.
// Invariant: begin <= at <= end, and *end is readable ('\0' or '}'). One thread per Cursor.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace limen::ptx {

/// Class bits of a byte.
enum CharClass : uint8_t { char_name_start = 1, char_name = 2, char_digit = 4, char_blank = 8 };
inline constexpr auto char_classes = [] {
  std::array<uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[size_t(c)] = char_name_start | char_name;
  for (int c = 'A'; c <= 'Z'; ++c) table[size_t(c)] = char_name_start | char_name;
  for (int c = '0'; c <= '9'; ++c) table[size_t(c)] = char_name | char_digit;
  for (int c : {'_', '$', '%'}) table[size_t(c)] = char_name_start | char_name;
  for (int c : {' ', '\t', '\r', '\n', '\f', '\v'}) table[size_t(c)] = char_blank;
  return table;
}();
inline bool is_char(char c, uint8_t bits) { return char_classes[static_cast<uint8_t>(c)] & bits; }

/// A literal or the value of a constant expression.
struct Number {
  enum class Kind : uint8_t { integer, f32, f64 };
  Kind kind = Kind::integer;
  bool is_unsigned = false;
  uint64_t bits = 0;  ///< two's complement, or IEEE bits of the kind
};

class Cursor {
 public:
  Cursor(const char* begin, const char* at, const char* end, uint32_t line)
      : begin_(begin), at_(at), end_(end), line_(line) {}

  /// Skips blanks and comments; counts lines. An unterminated comment ends at the end.
  void skip() {
    if (at_ >= end_ || (!is_char(*at_, char_blank) && *at_ != '/')) return;
    skip_blanks();
  }
  bool done() {
    skip();
    return at_ >= end_;
  }
  /// Next significant byte, '\0' at the end.
  char peek() {
    skip();
    return at_ < end_ ? *at_ : '\0';
  }
  /// The byte at `offset` from here without skipping, '\0' at the end.
  char raw(size_t offset = 0) const {
    return offset < static_cast<size_t>(end_ - at_) ? at_[offset] : '\0';
  }
  void advance(size_t n = 1) { at_ += n; }
  /// Takes `c` if it comes next.
  bool eat(char c) {
    if (peek() != c || at_ >= end_) return false;
    ++at_;
    return true;
  }
  /// Takes a name ([A-Za-z_$%][A-Za-z0-9_$]*), empty if none comes next.
  std::string_view name();
  /// Takes ".name" and gives the name without the dot; `a::b` is one name. Empty if none comes next.
  std::string_view dotted();
  /// The dotted name that comes next, not taken.
  std::string_view peek_dotted();
  /// Takes the name `word` if exactly that comes next.
  bool eat_word(std::string_view word);
  /// Takes a string literal without its quotes; false if none or unterminated.
  bool string(std::string_view& out);
  /// Takes an integer or float literal. False (nothing taken) if malformed or none.
  bool literal(Number& out);
  /// Takes a constant expression (C operators, casts (.s64), WARP_SZ). On false `error` says why.
  bool constant(Number& out, std::string& error);
  /// Takes a plain integer expression in [0, limit].
  bool integer(uint64_t& out, uint64_t limit, std::string& error);
  /// The offending text at the cursor for messages: one token, shortened, printable.
  std::string token_here();

  const char* at() const { return at_; }
  const char* end() const { return end_; }
  uint32_t line() const { return line_; }
  /// 1-based; further right than 1000 it says 1001.
  uint32_t column() const;
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  void move_to(const char* at, uint32_t line) {
    at_ = at;
    line_ = line;
  }

 private:
  void skip_blanks();
  bool decimal_float(Number& out);
  bool hex_float(Number& out);
  bool primary(Number& out, int depth, std::string& error);
  bool expression(Number& out, int min_level, int depth, std::string& error);
  bool unary(Number& out, int depth, std::string& error);
  int binary_operator(size_t& length);  ///< -1 if none comes next

  const char* begin_;
  const char* at_;
  const char* end_;
  uint32_t line_;
};

}  // namespace limen::ptx
