// What kernels are answered. Thread rule: constants.
#pragma once

namespace limen::cpu {

/// Codes of the runtime API that have no twin in the driver's.
/// source: CUDA Runtime API 13.0, cudaError.
enum RuntimeError : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  invalid_configuration = 9,
  invalid_pitch_value = 12,
  invalid_memcpy_direction = 21,
  launch_pending_count_exceeded = 69,
  invalid_device_function = 98,
  invalid_device = 101,
  invalid_resource_handle = 400,
};

}  // namespace limen::cpu
