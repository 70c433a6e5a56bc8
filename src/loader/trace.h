// Formats one traced call: arguments before it, code and results after it, one line in the log. The
// line has a fixed buffer; what does not fit is cut. Reads through a pointer only for results of a
// call that succeeded. Thread rule: a TracedCall belongs to one thread.
#pragma once
#include <cstddef>
#include <type_traits>

#include "loader/dispatch.h"

namespace limen::loader {

class TracedCall {
 public:
  explicit TracedCall(const char* function);

  template <typename T>
  void arg(const char* name, const T& value) {
    begin(name);
    print(value);
  }
  void text(const char* name, const char* value);
  void text(const char* name, const char* const* value) { arg(name, value); }

  /// The code of the call; from here on only `out` and `write` may follow.
  void result(CUresult code);

  /// A value that the call wrote, if it is a number or a handle.
  template <typename T>
  void out(const char* name, T* value) {
    if constexpr ((std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>) &&
                  !std::is_same_v<std::remove_cv_t<T>, char>) {
      if (code_ != CUDA_SUCCESS || !value) return;
      begin_out(name);
      print(*value);
    }
  }

  /// Writes the line and returns the code.
  CUresult write();

 private:
  void begin(const char* name);
  void begin_out(const char* name);
  void append(const char* format, ...) __attribute__((format(printf, 2, 3)));
  void print_pointer(const void* value);
  void print_unsigned(unsigned long long value);

  template <typename T>
  void print(const T& value) {
    if constexpr (std::is_pointer_v<T>) {
      if constexpr (std::is_function_v<std::remove_pointer_t<T>>) {
        print_pointer(reinterpret_cast<const void*>(value));
      } else {
        print_pointer(value);
      }
    } else if constexpr (std::is_enum_v<T>) {
      append("%lld", static_cast<long long>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      append("%g", static_cast<double>(value));
    } else if constexpr (std::is_unsigned_v<T>) {
      print_unsigned(value);
    } else if constexpr (std::is_integral_v<T>) {
      append("%lld", static_cast<long long>(value));
    } else {
      append("{%zu bytes}", sizeof value);
    }
  }

  char line_[1024];
  size_t used_ = 0;
  int args_ = 0;
  int outs_ = 0;
  CUresult code_ = CUDA_SUCCESS;
};

}  // namespace limen::loader
