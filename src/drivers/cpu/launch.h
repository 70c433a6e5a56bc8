// What a launch must satisfy and what every grid gets, shared by the host's launch calls, kernels'
// own launches, the attributes and the occupancy calls. Thread rule: any thread.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "abi/cuda_abi.h"
#include "compiler/jit/compile.h"
#include "compiler/ptx/ir.h"
#include "drivers/cpu/device.h"
#include "drivers/cpu/launch_attribute.h"
#include "engine/engine.h"

namespace limen::cpu {

struct Context;
struct Function;
struct KernelState;
struct StreamHandle;
class Instance;

struct LaunchShape {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;
};

/// What the checks of a launch find out.
struct LaunchForm {
  uint32_t cluster[3] = {1, 1, 1};
  bool explicit_cluster = false;
  jit::Residency residency = jit::Residency::free;
};

/// Levels of urgency between two CUDA priorities: a grid that another grid launched is served
/// before its parent's further blocks, so that few launches are open at once.
inline constexpr int priority_levels = 32;

/// Index ranges so small that they need no 64-bit arithmetic?
bool is_small(const LaunchShape& shape);
/// errors: 1 for wrong dimensions, 801 (logged) for what is not built.
CUresult check_shape(const LaunchShape& shape, const KernelState& state, const Device& device);
/// The dimensions of the launch's clusters; 1, 1, 1 without clusters. `asked`: as
/// cluster_dimensions. errors: 912, with the reason logged.
CUresult find_cluster(const LaunchShape& shape, const KernelState& state, const Device& device,
                      const uint32_t* asked, uint32_t cluster[3], bool* is_explicit);
/// Everything that can be wrong with a launch before its code is known. `stream`: null for none.
CUresult check_launch(const LaunchShape& shape, KernelState& state, const Device& device,
                      const LaunchOptions& options, const StreamHandle* stream, LaunchForm* form);
/// Copies the arguments into the layout of the kernel's parameter space.
CUresult pack_parameters(std::vector<uint8_t>& out, const ptx::Function& kernel, void** params,
                         void** extra);
/// The variables that the function's kernel has in `context`.
CUresult instance_of(Function& function, Context& context, std::shared_ptr<Instance>* instance);
/// Fills in all of a checked grid but its code, parameters and children. errors: 720.
CUresult fill_grid(engine::GridSpec& grid, const LaunchShape& shape, const LaunchForm& form,
                   const LaunchOptions& options, Context& context, const KernelState& state,
                   std::shared_ptr<Instance> instance);
/// What all grids of a context have: number, multiprocessors, services of the device.
void attach_context(engine::GridSpec& grid, Context& context);

/// Registers a thread counts for in occupancy. What is told of a kernel's registers is an estimate,
/// and an estimate must not refuse a launch that a GPU takes.
inline constexpr int nominal_registers = 32;

/// The device of the function's module, else of the current context. errors: 201, 709, the
/// context's failure.
CUresult device_of(const Function& function, const Device** device);
/// Threads of a block the kernel may be launched with.
int most_threads(const ptx::Function& function, const Device& device);
/// Clusters of at most so many blocks need no permission.
/// source: CUDA C++ Programming Guide 13.0, "Thread Block Clusters".
inline constexpr uint32_t portable_cluster_blocks = 8;

/// Dimensions of a kernel's clusters: what the launch says (`asked`, may be nullptr), else what the
/// program set, else the PTX; all 0 where nothing does.
void cluster_dimensions(const KernelState& state, const Device& device, const uint32_t* asked,
                        uint32_t out[3]);
/// Most blocks of a cluster that a launch may ask for now.
uint32_t most_cluster_blocks(const KernelState& state, const Device& device);
/// Blocks of the kernel that a multiprocessor holds; 0: none fits, or the launch would be wrong.
CUresult resident_blocks(KernelState& state, const Device& device, int64_t block_threads,
                         int64_t dynamic_bytes, int* blocks);
/// Value of a kernel's attribute. errors: 1, and those of parsing the kernel.
CUresult get_function_attribute(int* value, CUfunction_attribute attribute, KernelState& state,
                                const Device& device);
/// Dynamic shared memory a launch may ask for, in bytes.
int most_dynamic_shared(const KernelState& state, uint32_t static_bytes, const Device& device);

}  // namespace limen::cpu
