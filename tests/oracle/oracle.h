// The PTX evaluator: the oracle of the code generator's tests. It runs one thread at a time, one
// instruction at a time, straight from the parsed text: no vectors, no masks, no LLVM, and nothing
// shared with compiler/simt. Semantics are PTX ISA 9.0's; where the manual leaves a value open, the
// value measured on an H200. What it does not know it refuses by name and line.
// Not for hostile input: it trusts that the module went through the verifier. One thread a call.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ptx/ir.h"

namespace limen::oracle {

/// Host memory that the kernel may touch.
struct Region {
  const void* begin = nullptr;
  uint64_t bytes = 0;
};

struct Launch {
  ptx::Index kernel = 0;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t dynamic_shared_bytes = 0;
  std::vector<uint8_t> params;             ///< laid out as the kernel's .param space
  std::vector<Region> memory;              ///< what global and generic addresses may reach
  uint64_t max_steps = uint64_t{1} << 32;  ///< instructions in all; more is an error
  uint32_t slice = 16;     ///< instructions a thread runs before the next one has its turn
  uint32_t resident = 16;  ///< blocks that run side by side; later ones wait for a place
  bool strict = true;      ///< registers and lanes without a value are errors, not zeros
};

struct Outcome {
  bool ran = false;
  std::string error;  ///< with the PTX line
  uint64_t steps = 0;
};

/// Runs a kernel to its end. Function bodies are parsed and verified as needed.
Outcome evaluate(ptx::Module& module, const Launch& launch);

}  // namespace limen::oracle
