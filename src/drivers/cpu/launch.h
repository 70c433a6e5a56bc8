// What a launch must satisfy, shared by the launch calls, the attributes and the occupancy calls.
// Thread rule: pure functions.
#pragma once
#include <cstdint>

#include "compiler/ptx/ir.h"
#include "drivers/cpu/device.h"

namespace limen::cpu {

struct KernelState;

/// Registers a thread is said to use; they limit nothing.
inline constexpr int nominal_registers = 32;

/// Threads of a block the kernel may be launched with.
int most_threads(const ptx::Function& function, const Device& device);
/// Dynamic shared memory a launch may ask for, in bytes.
int most_dynamic_shared(const KernelState& state, uint32_t static_bytes, const Device& device);

}  // namespace limen::cpu
