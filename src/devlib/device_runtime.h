// The functions of CUDA's device runtime (dynamic parallelism) that Limen provides to kernels:
// what the compiler may leave without a body and the driver answers. Names, sizes and order come
// from spec/device_runtime.toml; docs/design/dynamic_parallelism.md.
// Thread rule: constants and pure functions.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "devlib/cooperative_groups.h"

namespace limen::kernel {

/// Beside a DeviceCall: stream 0 means the calling thread's own stream.
inline constexpr uint32_t device_call_per_thread = 1u << 16;
/// In place of a DeviceCall: %current_graph_exec, which is asked for without arguments.
inline constexpr uint32_t device_call_current_graph_exec = device_call_per_thread - 1;
inline constexpr uint32_t most_device_call_arguments = 8;

struct DeviceFunction {
  std::string_view name;
  uint32_t call;  ///< a DeviceCall, perhaps with device_call_per_thread
  uint8_t return_bytes;
  uint8_t param_count;
  /// 4 and 8: a scalar. Any other size: a structure, handed over by its address.
  std::array<uint8_t, most_device_call_arguments> param_bytes;
};

#include "devlib/device_runtime.inc"

inline constexpr bool is_by_address(uint8_t param_bytes) {
  return param_bytes != 4 && param_bytes != 8;
}

/// The function of that name, or nullptr.
inline const DeviceFunction* find_device_function(std::string_view name) {
  if (!name.starts_with("__cudaCDP2") && !name.starts_with("cudaGraph")) return nullptr;
  for (const DeviceFunction& function : device_functions)
    if (function.name == name) return &function;
  return nullptr;
}

/// Does the name belong to the first version of the device runtime (CUDA before 12)? That one lets
/// a block wait for its children and does not exist from compute capability 9.0 on.
inline bool is_old_device_function(std::string_view name) {
  for (std::string_view old : old_device_functions)
    if (old == name) return true;
  return false;
}

/// Does the device provide the function of that name to kernels, so that PTX may declare it only?
inline bool is_provided_function(std::string_view name) {
  return name == "vprintf" || name == "malloc" || name == "free" || name == "__assertfail" ||
         is_cooperative_function(name) || find_device_function(name) != nullptr;
}

}  // namespace limen::kernel
