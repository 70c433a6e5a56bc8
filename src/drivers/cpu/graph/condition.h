// How a kernel sets the value that a conditional node looks at. Thread rule: any thread.
#pragma once
#include <cstdint>

namespace limen::cpu {

/// cudaGraphSetConditional. What is no live handle has no effect.
void set_condition(uint64_t handle, unsigned value);

}  // namespace limen::cpu
