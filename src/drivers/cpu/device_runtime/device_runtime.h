// The device runtime of CUDA's dynamic parallelism, ours: what kernels call when they launch grids.
// NVIDIA's own (libcudadevrt) is never run: calls of it come here by name.
// Thread rule: any thread. docs/design/dynamic_parallelism.md
#pragma once
#include <memory>

#include "engine/engine.h"

namespace limen::cpu {

struct Context;
class Instance;
class LaunchEnvironment;

/// What a grid that the host launches gets, so that its kernel may launch others: a new tree.
/// `environment`: where it launches graphs, null outside of graphs.
std::shared_ptr<engine::ChildGrids> child_grids_of_launch(
    Context& context, std::shared_ptr<Instance> instance, int priority,
    std::shared_ptr<LaunchEnvironment> environment = nullptr);

}  // namespace limen::cpu
