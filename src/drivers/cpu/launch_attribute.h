// What a launch says beside its shape: the attributes of cuLaunchKernelEx, checked.
// Hints on caches and memory ordering are satisfied by full order in one coherent memory; what
// asks for an effect is kept in LaunchOptions. Invariant: no attribute is passed over unchecked.
// Thread rule: pure functions of the configuration.
#pragma once
#include <cstdint>
#include <memory>

#include "abi/cuda_abi.h"

namespace limen::cpu {

struct Context;
struct EventState;

struct LaunchOptions {
  bool has_priority = false;
  int priority = 0;
  bool cooperative = false;
  bool device_updatable = false;  ///< kernels may change the node that the launch becomes
  bool has_cluster = false;
  uint32_t cluster[3] = {0, 0, 0};
  bool has_preferred_cluster = false;
  uint32_t preferred_cluster[3] = {0, 0, 0};
  std::shared_ptr<EventState> all_over;   ///< programmatic event: recorded behind the grid
  std::shared_ptr<EventState> all_begun;  ///< launch completion event: the last block begins
  const CUlaunchAttribute* attributes = nullptr;  ///< as given, for the node of a graph
  unsigned attribute_count = 0;
};

/// Reads the attributes of a launch into `context`. errors: 1 for values that cannot be, 400 for
/// what is no event of the context.
CUresult read_launch_attributes(const CUlaunchConfig& config, const Context& context,
                                LaunchOptions* options);

/// The same for a list.
CUresult read_launch_attributes(const CUlaunchAttribute* list, unsigned count,
                                const Context& context, LaunchOptions* options);

/// Checks the preferred cluster against the grid and the clusters it is launched in.
/// errors: 912, with the reason logged.
CUresult check_preferred_cluster(const LaunchOptions& options, const uint32_t grid[3],
                                 const uint32_t cluster[3]);

}  // namespace limen::cpu
