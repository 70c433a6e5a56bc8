// Device printf's formatting; see printf.h. Each conversion is rebuilt as a small host format and
// handed to snprintf, so flags, width, precision and locale behave as the host's printf does.
#include "engine/printf.h"

#include <climits>
#include <cstdio>
#include <cstring>

namespace limen::engine {
namespace {

enum class Length { none, hh, h, l, ll };

struct Spec {
  char flags[8] = {};
  int flag_count = 0;
  bool has_width = false, has_precision = false;
  int width = 0, precision = 0;
  Length length = Length::none;
  char conversion = 0;
};

class ArgumentReader {
 public:
  explicit ArgumentReader(const uint8_t* at) : base_(at) {}
  template <typename T>
  T next() {
    offset_ = (offset_ + sizeof(T) - 1) & ~(sizeof(T) - 1);
    T value;
    std::memcpy(&value, base_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    ++count_;
    return value;
  }
  int32_t count() const { return count_; }

 private:
  const uint8_t* base_;
  size_t offset_ = 0;
  int32_t count_ = 0;
};

/// A number, clamped so that a silly width cannot overflow; `at` moves behind it.
int read_number(const char*& at) {
  int value = 0;
  while (*at >= '0' && *at <= '9') {
    if (value < 100'000'000) value = value * 10 + (*at - '0');
    ++at;
  }
  return value;
}

/// `at` stands behind '%'. False: no conversion that we know; `at` is where parsing stopped.
bool parse(const char*& at, Spec& spec, ArgumentReader& reader) {
  for (; *at != 0 && std::strchr("-+ #0", *at) != nullptr; ++at)
    if (std::memchr(spec.flags, *at, sizeof spec.flags) == nullptr)
      spec.flags[spec.flag_count++] = *at;
  if (*at == '*') {
    ++at;
    spec.has_width = true;
    spec.width = reader.next<int32_t>();
    if (spec.width < 0) {
      if (std::memchr(spec.flags, '-', sizeof spec.flags) == nullptr)
        spec.flags[spec.flag_count++] = '-';
      spec.width = spec.width == INT_MIN ? INT_MAX : -spec.width;
    }
  } else if (*at >= '0' && *at <= '9') {
    spec.has_width = true;
    spec.width = read_number(at);
  }
  if (*at == '.') {
    ++at;
    spec.has_precision = true;
    if (*at == '*') {
      ++at;
      spec.precision = reader.next<int32_t>();
      if (spec.precision < 0) spec.has_precision = false;
    } else {
      spec.precision = read_number(at);
    }
  }
  for (;; ++at) {
    if (*at == 'h')
      spec.length = spec.length == Length::h ? Length::hh : Length::h;
    else if (*at == 'l')
      spec.length = spec.length == Length::l ? Length::ll : Length::l;
    else if (*at == 'z' || *at == 't' || *at == 'j' || *at == 'q')
      spec.length = Length::ll;
    else if (*at != 'L')
      break;
  }
  if (*at == 0 || std::strchr("cdiouxXpeEfFgGaAs", *at) == nullptr) return false;
  spec.conversion = *at++;
  return true;
}

/// Host format for `spec` with width and precision as '*' where given.
void host_format(const Spec& spec, const char* length, char conversion, char (&out)[24]) {
  char* at = out;
  *at++ = '%';
  for (int i = 0; i < spec.flag_count; ++i) *at++ = spec.flags[i];
  *at++ = '*';
  *at++ = '.';
  *at++ = '*';
  while (*length != 0) *at++ = *length++;
  *at++ = conversion;
  *at = 0;
}

template <typename T>
void append(std::string& out, const Spec& spec, const char* length, T value) {
  char format[24];
  host_format(spec, length, spec.conversion, format);
  const int width = spec.has_width ? spec.width : 0;
  const int precision = spec.has_precision ? spec.precision : -1;  // negative: as if not given
  char small[128];
  const int need = std::snprintf(small, sizeof small, format, width, precision, value);
  if (need < 0) return;
  if (static_cast<size_t>(need) < sizeof small) {
    out.append(small, static_cast<size_t>(need));
    return;
  }
  const size_t old = out.size();
  out.resize(old + static_cast<size_t>(need) + 1);
  std::snprintf(&out[old], static_cast<size_t>(need) + 1, format, width, precision, value);
  out.resize(old + static_cast<size_t>(need));
}

/// A string is measured before `out` grows: only the measuring may fault.
void append_string(std::string& out, const Spec& spec, const char* text) {
  if (text == nullptr) text = "(null)";
  const size_t most = spec.has_precision ? static_cast<size_t>(spec.precision) : SIZE_MAX;
  size_t bytes = 0;
  const volatile char* probe = text;
  while (bytes < most && probe[bytes] != 0) ++bytes;
  const size_t width = spec.has_width ? static_cast<size_t>(spec.width) : 0;
  const size_t blanks = width > bytes ? width - bytes : 0;
  const bool left = std::memchr(spec.flags, '-', sizeof spec.flags) != nullptr;
  if (!left) out.append(blanks, ' ');
  out.append(text, bytes);
  if (left) out.append(blanks, ' ');
}

void append_integer(std::string& out, const Spec& spec, ArgumentReader& reader) {
  const bool wide = spec.length == Length::l || spec.length == Length::ll;
  const bool is_signed = spec.conversion == 'd' || spec.conversion == 'i';
  if (wide) {
    append(out, spec, "ll", reader.next<int64_t>());
    return;
  }
  const int32_t value = reader.next<int32_t>();
  const char* length = spec.length == Length::hh ? "hh" : spec.length == Length::h ? "h" : "";
  if (is_signed)
    append(out, spec, length, value);
  else
    append(out, spec, length, static_cast<uint32_t>(value));
}

void convert(std::string& out, const Spec& spec, ArgumentReader& reader) {
  switch (spec.conversion) {
    case 'c':
      append(out, spec, "", reader.next<int32_t>());
      break;
    case 's':
      append_string(out, spec, reinterpret_cast<const char*>(reader.next<uint64_t>()));
      break;
    case 'p':
      append(out, spec, "", reinterpret_cast<void*>(reader.next<uint64_t>()));
      break;
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      append_integer(out, spec, reader);
      break;
    default:
      append(out, spec, "", reader.next<double>());
      break;
  }
}

}  // namespace

int32_t format_printf(std::string& out, const char* format, const uint8_t* args) {
  if (format == nullptr) return -1;
  ArgumentReader reader(args);
  for (const char* at = format; *at != 0;) {
    const char* percent = at;
    while (*percent != 0 && *percent != '%') ++percent;
    out.append(at, static_cast<size_t>(percent - at));
    if (*percent == 0) break;
    at = percent + 1;
    if (*at == '%') {
      out.push_back('%');
      ++at;
      continue;
    }
    Spec spec;
    if (parse(at, spec, reader)) {
      convert(out, spec, reader);
    } else {
      // Unknown to device printf: shown as it stands, takes no argument.
      if (*at != 0) ++at;
      out.append(percent, static_cast<size_t>(at - percent));
    }
  }
  return reader.count();
}

}  // namespace limen::engine
