// The conformance suite's words. One file a function of the driver API, one process a case, the
// same binary on the CPU device and on an H200 through NVIDIA's driver. What a check expects is
// what the H200 does; where the CPU device differs on purpose, differs.toml says what it does, and
// why. Thread rule: checks may come from any thread of a case.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "conformance/driver_calls.h"

namespace limen::conform {

/// What a case finds done: nothing, cuInit, or device 0's primary context current as well.
enum class Setup : uint8_t { nothing, initialised, context };

struct Case {
  const char* function;
  const char* name;
  const char* file;
  Setup setup;
  void (*body)();
};

bool add_case(const Case& one);

/// Reports one observation: `label` is unique in its case.
void observe(std::string_view label, const std::string& actual, const std::string& expected);

std::string text_of(CUresult code);
std::string text_of(std::string_view text);
template <typename T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<long long>(value));
  } else if constexpr (std::is_pointer_v<T>) {
    return value ? "a pointer" : "null";
  } else {
    static_assert(std::is_arithmetic_v<T>, "observe numbers, codes, text and pointers");
    return std::to_string(value);
  }
}

/// The call answered `expected`.
inline void expect_code(std::string_view label, CUresult actual, CUresult expected) {
  observe(label, text_of(actual), text_of(expected));
}

/// `actual` is `expected`. Pointers are compared for being null only: addresses differ by machine.
template <typename T, typename U>
void expect(std::string_view label, const T& actual, const U& expected) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    observe(label, text_of(std::string_view(actual)), text_of(std::string_view(expected)));
  } else if constexpr (std::is_enum_v<T> || std::is_pointer_v<T> || std::is_same_v<T, U>) {
    observe(label, text_of(actual), text_of(static_cast<T>(expected)));
  } else {
    using Common = std::common_type_t<T, U>;
    observe(label, text_of(static_cast<Common>(actual)), text_of(static_cast<Common>(expected)));
  }
}

/// What a machine's size decides (counts, sizes, addresses): only the truth of it is compared.
inline void expect_true(std::string_view label, bool actual) { expect(label, actual, true); }

/// A call that only prepares: the case ends as failed where it does not succeed.
void require(CUresult code, const char* call, int line);
#define REQUIRE(...) ::limen::conform::require(__VA_ARGS__, #__VA_ARGS__, __LINE__)
/// The case does not apply to this machine (say, it needs two devices): it is reported as skipped.
[[noreturn]] void skip(std::string_view why);

/// Device memory for the length of a scope.
class Buffer {
 public:
  explicit Buffer(size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  CUdeviceptr at(size_t offset = 0) const { return address_ + offset; }
  operator CUdeviceptr() const { return address_; }

 private:
  CUdeviceptr address_ = 0;
};

/// Reads or writes one value of device memory, synchronously.
template <typename T>
T read(CUdeviceptr address) {
  T value;
  REQUIRE(cuMemcpyDtoH(&value, address, sizeof value));
  return value;
}
template <typename T>
void write(CUdeviceptr address, T value) {
  REQUIRE(cuMemcpyHtoD(address, &value, sizeof value));
}

/// A kernel of PTX text; the module stays loaded to the end of the case.
CUfunction load_kernel(const char* ptx, const char* name);

/// The kernels that most cases need. `store(u64 address, u32 value)`, `add(u64 address, u32 value)`
/// atomically by every thread, `spin(u64 flag)` until *flag is not 0, `trap()`.
CUfunction common_kernel(const char* name);

/// Launches a kernel with arguments as given (8-byte addresses, 4-byte numbers).
template <typename... Args>
CUresult launch(CUfunction kernel, unsigned blocks, unsigned threads, CUstream stream,
                Args... args) {
  void* list[] = {&args..., nullptr};
  return cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, list, nullptr);
}

/// 1 KiB of host memory that no call has ever returned, for wrong handles.
void* foreign_memory();
template <typename Handle>
Handle foreign_handle() {
  return static_cast<Handle>(foreign_memory());
}

#define CONFORM_WITH(function, name, setup)                                                   \
  static void conform_##function##_##name();                                                  \
  [[maybe_unused]] static const bool conform_added_##function##_##name =                      \
      ::limen::conform::add_case({#function, #name, __FILE__, ::limen::conform::Setup::setup, \
                                  conform_##function##_##name});                              \
  static void conform_##function##_##name()

/// A case of `function` with device 0's primary context current.
#define CONFORM(function, name) CONFORM_WITH(function, name, context)

}  // namespace limen::conform
