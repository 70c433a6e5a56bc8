// Finds .version and .target at the head of PTX text, past comments. Tolerant by design: whatever
// it does not understand is left to the PTX parser, which has line and column to complain with.
#include "compiler/fatbin/ptx_head.h"

#include <cstring>

#include "compiler/fatbin/ptx_version.h"

namespace limen::fatbin {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Text without white space and comments at its begin.
std::string_view skip_blank(std::string_view text) {
  for (;;) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    if (text.substr(0, 2) == "//") {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    } else if (text.substr(0, 2) == "/*") {
      size_t end = text.find("*/", 2);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    } else {
      return text;
    }
  }
}

/// Reads digits off `text`; at most 6, so that no text overflows.
uint32_t take_number(std::string_view& text) {
  uint32_t value = 0;
  for (int i = 0; i < 6 && !text.empty() && is_digit(text.front()); ++i) {
    value = value * 10 + static_cast<uint32_t>(text.front() - '0');
    text.remove_prefix(1);
  }
  return value;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

bool looks_like_ptx(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (text.size() < 2) return false;
  if (text[0] == '/') return text[1] == '/' || text[1] == '*';
  return text[0] == '.' && ((text[1] | 0x20) >= 'a' && (text[1] | 0x20) <= 'z');
}

void read_ptx_head(std::string_view text, Entry& entry) {
  text = skip_blank(text);
  if (!take_word(text, ".version")) return;
  text = skip_blank(text);
  uint32_t major = take_number(text);
  if (!take_word(text, ".")) return;
  entry.ptx_major = static_cast<uint16_t>(major);
  entry.ptx_minor = static_cast<uint16_t>(take_number(text));
  text = skip_blank(text);
  if (!take_word(text, ".target")) return;
  text = skip_blank(text);
  if (!take_word(text, "sm_")) return;
  entry.sm = take_number(text);
  if (!text.empty() && (text.front() == 'a' || text.front() == 'f')) entry.suffix = text.front();
}

bool lower_ptx_version(char* data, size_t size_bytes, uint32_t major, uint32_t minor) {
  std::string_view text = skip_blank({data, strnlen(data, size_bytes)});
  if (!take_word(text, ".version")) return false;
  text = skip_blank(text);
  char* begin = data + (text.data() - data);
  const uint32_t has_major = take_number(text);
  if (!take_word(text, ".")) return false;
  const uint32_t has_minor = take_number(text);
  if (has_major < major || (has_major == major && has_minor <= minor)) return false;
  std::string lower = std::to_string(major) + "." + std::to_string(minor);
  const auto room = static_cast<size_t>(text.data() - begin);
  if (lower.size() > room) return false;
  lower.resize(room, ' ');
  std::memcpy(begin, lower.data(), room);
  return true;
}

}  // namespace limen::fatbin
