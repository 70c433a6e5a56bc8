// Result<T>: a value or an Error. The only way a failure travels inside Limen; no exceptions of ours.
// Success allocates nothing. Codes carry CUresult's numbers so that the loader maps them by value.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace limen {

/// Failure codes; the values are those of CUresult (CUDA Driver API 13.0, enum CUresult).
enum class Code : int32_t {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  map_failed = 205,
  no_binary_for_gpu = 209,
  invalid_ptx = 218,
  jit_compiler_not_found = 221,
  unsupported_ptx_version = 222,
  unsupported_devside_sync = 225,
  invalid_source = 300,
  file_not_found = 301,
  shared_object_symbol_not_found = 302,
  shared_object_init_failed = 303,
  operating_system = 304,
  invalid_handle = 400,
  illegal_state = 401,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  assert_failed = 710,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failed = 719,
  not_permitted = 800,
  not_supported = 801,
  unknown = 999,
};

struct Error {
  Code code = Code::unknown;
  std::string what;    ///< lower case, no full stop, with the numbers
  std::string remedy;  ///< imperative; may be empty
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::make_unique<Error>(std::move(error))) {}
  Result(std::unique_ptr<Error> error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  T* operator->() { return &value(); }
  const Error& error() const { return *std::get<1>(state_); }
  std::unique_ptr<Error> take_error() { return std::move(std::get<1>(state_)); }
  Code code() const { return ok() ? Code::success : error().code; }

 private:
  std::variant<T, std::unique_ptr<Error>> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::make_unique<Error>(std::move(error))) {}
  Result(std::unique_ptr<Error> error) : error_(std::move(error)) {}

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }
  std::unique_ptr<Error> take_error() { return std::move(error_); }
  Code code() const { return error_ ? error_->code : Code::success; }

 private:
  std::unique_ptr<Error> error_;
};

#define LIMEN_CONCAT_(a, b) a##b
#define LIMEN_CONCAT(a, b) LIMEN_CONCAT_(a, b)
/// Returns the error of `expr` from the enclosing function, or binds its value to `decl`.
#define LIMEN_TRY(decl, expr)                                        \
  auto LIMEN_CONCAT(try_, __LINE__) = (expr);                        \
  if (!LIMEN_CONCAT(try_, __LINE__).ok())                            \
    return LIMEN_CONCAT(try_, __LINE__).take_error();                \
  decl = std::move(LIMEN_CONCAT(try_, __LINE__)).value()
/// The same for Result<void>.
#define LIMEN_CHECK(expr)                                            \
  if (auto LIMEN_CONCAT(chk_, __LINE__) = (expr); !LIMEN_CONCAT(chk_, __LINE__).ok()) \
  return LIMEN_CONCAT(chk_, __LINE__).take_error()

}  // namespace limen
