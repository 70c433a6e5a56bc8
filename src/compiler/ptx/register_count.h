// How many registers of a GPU a kernel would take: an estimate for programs that ask (attributes,
// occupancy). Nothing here limits or changes what runs on a CPU. Thread rule: pure functions.
// How it was made and how far off it is: docs/design/register_count.md.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/ptx/ir.h"

namespace limen::ptx {

/// A GPU's thread has at most so many. source: CUDA C++ Programming Guide 13.0, "Compute Capabilities".
inline constexpr uint32_t most_registers = 255;

/// Registers of 32 bits that a thread in a parsed function would need: what is live at once, and what
/// every kernel takes. At most most_registers.
uint32_t estimate_registers(const Function& function);

/// What `estimate` comes to under the limits that the kernel states: .maxnreg, or the threads and
/// blocks that must fit `available` registers, those of a multiprocessor.
uint32_t limit_registers(const Function& kernel, uint32_t estimate, uint32_t available);

/// The text of the module with .maxnreg at every kernel that states no limit of its own: what an
/// assembler's -maxrregcount says. `module` is the text's, with or without parsed bodies.
std::string with_register_limit(const Module& module, std::string text, uint32_t registers);

}  // namespace limen::ptx
