// What a launch must satisfy, shared by the launch calls, the attributes and the occupancy calls.
// Thread rule: pure functions.
#pragma once
#include <cstdint>

#include "abi/cuda_abi.h"
#include "compiler/ptx/ir.h"
#include "drivers/cpu/device.h"

namespace limen::cpu {

struct Function;
struct KernelState;

/// Registers a thread is said to use; they limit nothing.
inline constexpr int nominal_registers = 32;

/// Threads of a block the kernel may be launched with.
int most_threads(const ptx::Function& function, const Device& device);
/// Clusters of at most so many blocks need no permission.
/// source: CUDA C++ Programming Guide 13.0, "Thread Block Clusters".
inline constexpr uint32_t portable_cluster_blocks = 8;

/// Dimensions of a kernel's clusters: what the launch says (`asked`, may be nullptr), else what the
/// program set, else the PTX; all 0 where nothing does.
void cluster_dimensions(const KernelState& state, const uint32_t* asked, uint32_t out[3]);
/// Most blocks of a cluster that a launch may ask for now.
uint32_t most_cluster_blocks(const KernelState& state);
/// Blocks of the kernel that a multiprocessor holds; 0: none fits, or the launch would be wrong.
CUresult resident_blocks(Function& function, const Device& device, int64_t block_threads,
                         int64_t dynamic_bytes, int* blocks);
/// Dynamic shared memory a launch may ask for, in bytes.
int most_dynamic_shared(const KernelState& state, uint32_t static_bytes, const Device& device);

}  // namespace limen::cpu
