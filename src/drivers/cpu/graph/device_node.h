// DeviceNode: a kernel node that kernels may change (cudaGraphKernelNode* in kernels): its
// parameters, blocks and whether it runs, as the next launch will find them. The host's changes
// replace them all when the graph is uploaded or launched next. Invariant: known by its handle
// until the last graph with the node, and the last launch of it, is gone.
// Thread rule: any thread; one lock a node. docs/design/graphs.md
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "abi/cuda_abi.h"
#include "engine/engine.h"

namespace limen::cpu {

class Device;
struct Plan;
struct Step;

class DeviceNode {
 public:
  /// A new one with a handle of its own.
  static std::shared_ptr<DeviceNode> make(const Device& device);
  /// The node that a kernel names, or null.
  static std::shared_ptr<DeviceNode> find(uint64_t handle);
  DeviceNode() = default;
  ~DeviceNode();
  DeviceNode(const DeviceNode&) = delete;
  DeviceNode& operator=(const DeviceNode&) = delete;

  CUgraphDeviceNode handle() const {
    return reinterpret_cast<CUgraphDeviceNode>(const_cast<DeviceNode*>(this));
  }
  const Device* device() const { return device_; }

  /// What the host has set, if it is new.
  void follow(const Step& step);
  bool is_enabled();
  /// Gives the grid what the node has.
  void apply(engine::GridSpec& grid);

  // The kernels' changes. False: the value does not fit the node.
  bool set_enabled(bool enabled);
  bool set_grid(const uint32_t grid[3]);
  /// Whether so many bytes of parameters are there.
  bool has_params(uint64_t offset, uint64_t bytes);
  bool set_params(uint64_t offset, const void* from, uint64_t bytes);

 private:
  const Device* device_ = nullptr;
  std::mutex mutex_;  ///< guards what follows
  uint64_t version_ = 0;
  bool enabled_ = false;
  uint32_t grid_[3] = {}, cluster_[3] = {1, 1, 1};
  std::vector<uint8_t> params_;
};

/// All such nodes of the plan hear what the host has set.
void follow_host(const Plan& plan);

}  // namespace limen::cpu
