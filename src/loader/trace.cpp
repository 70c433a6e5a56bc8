// See trace.h.
#include "loader/trace.h"

#include <cstdarg>
#include <cstdio>

#include "base/log.h"

namespace limen::loader {

TracedCall::TracedCall(const char* function) {
  line_[0] = '\0';
  append("%s(", function);
}

void TracedCall::append(const char* format, ...) {
  if (used_ + 1 >= sizeof line_) return;
  va_list args;
  va_start(args, format);
  int size = std::vsnprintf(line_ + used_, sizeof line_ - used_, format, args);
  va_end(args);
  if (size > 0) used_ += static_cast<size_t>(size);
  if (used_ >= sizeof line_) used_ = sizeof line_ - 1;
}

void TracedCall::begin(const char* name) { append("%s%s=", args_++ ? ", " : "", name); }

void TracedCall::begin_out(const char* name) { append("%s*%s=", outs_++ ? ", " : " [", name); }

void TracedCall::text(const char* name, const char* value) {
  begin(name);
  if (value)
    append("\"%.200s\"", value);
  else
    append("null");
}

void TracedCall::print_pointer(const void* value) {
  if (value)
    append("%p", value);
  else
    append("null");
}

void TracedCall::print_unsigned(unsigned long long value) {
  // Addresses are read more easily in hexadecimal; sizes and counts are not.
  if (value >= (1ull << 36))
    append("%#llx", value);
  else
    append("%llu", value);
}

void TracedCall::result(CUresult code) {
  code_ = code;
  append(") = %d", code);
}

CUresult TracedCall::write() {
  if (outs_) append("]");
  log::write(log::Level::trace, {line_, used_});
  return code_;
}

}  // namespace limen::loader
