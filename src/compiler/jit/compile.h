// What drivers/cpu asks of the compiler, without LLVM in sight. The implementation lives in
// liblimen_jit.so, opened (RTLD_LOCAL) only when the disk cache has no answer: on a cache hit LLVM
// is never loaded.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/ptx/ir.h"
#include "devlib/kernel_abi.h"

namespace limen::jit {

/// What the blocks of a launch expect of each other.
enum class Residency : uint8_t {
  free,         ///< nothing: they may run one after the other
  cooperative,  ///< all are resident at once: fiber strategies only
  cluster,      ///< those of a cluster are, and `.shared` addresses are the cluster window's
};

/// Beside the numbers of kernel::Strategy: a fiber a warp, in every loop of which lanes go on
/// independently of each other, as they otherwise do only where one may wait for another. For
/// tests.
inline constexpr int independent_lanes = 4;

/// What a kernel version is specialised on. Everything here is part of the cache key.
struct Specialization {
  uint32_t block[3] = {0, 0, 0};  ///< block dimensions; all 0: any
  bool small_grid = false;  ///< gridDim.i * blockDim.i < 2^30 for each i: index ranges provable
  int strategy = -1;   ///< -1: the compiler chooses; else a kernel::Strategy or independent_lanes
  uint32_t width = 0;  ///< 0: the compiler chooses
  Residency residency = Residency::free;
  uint32_t opt_level = 1;
  bool exact_nan = false;  ///< of several different f64 NaNs the one that the device passes on
  std::string target;      ///< "host", or one of named_targets(); empty: host
};

/// A relocatable ELF object with the entry symbol "limen_kernel", and its meta data.
struct CompiledKernel {
  std::vector<uint8_t> object;
  kernel::KernelMeta meta{};
  std::string notes;  ///< why this strategy and width; shown by the trace and inspect
};

/// Compiles one kernel. `module` bodies are parsed on demand (so it is not const).
/// errors: invalid_ptx, not_supported (names instruction, line and kernel).
using CompileFn = Result<CompiledKernel> (*)(ptx::Module& module, uint32_t function,
                                             const Specialization& spec);

}  // namespace limen::jit

/// The one symbol liblimen_jit.so exports.
extern "C" limen::Result<limen::jit::CompiledKernel> limen_jit_compile(
    limen::ptx::Module& module, uint32_t function, const limen::jit::Specialization& spec);
