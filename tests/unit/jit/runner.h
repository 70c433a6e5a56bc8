// Compiles PTX text with liblimen_jit.so and runs it on the engine, without the driver.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/jit/compile.h"
#include "compiler/ptx/ir.h"
#include "engine/engine.h"

namespace limen::test {

/// The evaluator of tests/oracle as a strategy of its own; width and specialisation mean nothing to it.
inline constexpr int oracle_strategy = 3;

struct Outcome {
  bool ran = false;
  std::string error;  ///< compile error or fault message
  kernel::KernelMeta meta{};
  std::vector<uint32_t> out;  ///< the output buffer afterwards
};

struct Job {
  std::string ptx;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {32, 1, 1};
  std::vector<uint32_t> in;
  size_t out_words = 0;
  int strategy = -1;
  uint32_t width = 0;
  bool exact_nan = false;  ///< as LIMEN_EXACT_NAN: the text need not make f64 NaNs canonical
  bool specialize = true;  ///< false: the version for any block dimensions
  uint64_t max_steps = 200'000'000;  ///< of the evaluator
};

/// Runs kernel 0 of the text with parameters (u64 in, u64 out, u32 n = threads in all).
Outcome run(const Job& job);

/// The optimised LLVM IR that liblimen_jit.so makes of the job, which is run as well; empty where it
/// fails.
std::string code_of(const Job& job);

/// The launch of a seed's program: shape, input, room for the output. The text is not set.
Job job_of(uint64_t seed, uint32_t block_x, uint32_t block_y);

/// The launch that a text's first line tells: `// seed S block X Y`, then `exact` where exact_nan is
/// meant. The text is set. False: it has no such line.
bool read_job(const std::string& text, Job& job);

enum class Family : uint8_t { plain, barriers, warp };

/// The program of a family and a seed with its launch: text, shape, input, room for the output.
/// Warp programs have whole warps, every other one has barriers too.
Job random_job(Family family, uint64_t seed);

/// How one job may be compiled.
struct Version {
  int strategy;
  uint32_t width;
  bool specialize;
};

/// Every strategy and width that must agree on programs of the family.
const std::vector<Version>& versions(Family family);

/// A random program with branches, loops, early exits, shaped and varying values; defined for all
/// inputs, so that every strategy must agree. With `barriers`: block barriers in uniform places.
/// Without `exact_nan` every f64 NaN is made canonical, since which one passes is open.
std::string random_program(uint64_t seed, bool barriers, bool warp_ops, bool exact_nan);

}  // namespace limen::test
