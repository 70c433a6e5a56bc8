// Kernel nodes that kernels change. Thread rule: see the header.
#include "drivers/cpu/graph/device_node.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "drivers/cpu/graph/plan.h"

namespace limen::cpu {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<DeviceNode>> nodes;  ///< by handle
};
Registry& registry() {
  static auto* made = new Registry;
  return *made;
}

}  // namespace

std::shared_ptr<DeviceNode> DeviceNode::make(const Device& device) {
  auto node = std::make_shared<DeviceNode>();
  node->device_ = &device;
  std::lock_guard lock(registry().mutex);
  registry().nodes[reinterpret_cast<uint64_t>(node.get())] = node;
  return node;
}

DeviceNode::~DeviceNode() {
  std::lock_guard lock(registry().mutex);
  registry().nodes.erase(reinterpret_cast<uint64_t>(this));
}

std::shared_ptr<DeviceNode> DeviceNode::find(uint64_t handle) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().nodes.find(handle);
  return found == registry().nodes.end() ? nullptr : found->second.lock();
}

void DeviceNode::follow(const Step& step) {
  const engine::GridSpec& grid = std::get<KernelStep>(*step.work).grid;
  std::lock_guard lock(mutex_);
  if (version_ == step.version) return;
  version_ = step.version;
  enabled_ = step.enabled;
  std::copy(std::begin(grid.grid), std::end(grid.grid), grid_);
  std::copy(std::begin(grid.cluster), std::end(grid.cluster), cluster_);
  params_ = grid.params;
}

bool DeviceNode::is_enabled() {
  std::lock_guard lock(mutex_);
  return enabled_;
}

void DeviceNode::apply(engine::GridSpec& grid) {
  std::lock_guard lock(mutex_);
  std::copy(std::begin(grid_), std::end(grid_), grid.grid);
  // Another kernel may have taken the node meanwhile: its parameters come with the next launch.
  if (params_.size() == grid.params.size()) grid.params = params_;
}

bool DeviceNode::set_enabled(bool enabled) {
  std::lock_guard lock(mutex_);
  if (!version_) return false;
  enabled_ = enabled;
  return true;
}

bool DeviceNode::set_grid(const uint32_t grid[3]) {
  // source: CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability".
  constexpr uint32_t most[3] = {0x7fffffff, 65535, 65535};
  std::lock_guard lock(mutex_);
  if (!version_) return false;
  for (int i = 0; i < 3; ++i)
    if (grid[i] == 0 || grid[i] > most[i] || grid[i] % cluster_[i] != 0) return false;
  std::copy(grid, grid + 3, grid_);
  return true;
}

bool DeviceNode::has_params(uint64_t offset, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  return version_ && offset <= params_.size() && bytes <= params_.size() - offset;
}

bool DeviceNode::set_params(uint64_t offset, const void* from, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (offset > params_.size() || bytes > params_.size() - offset) return false;
  std::memcpy(params_.data() + offset, from, bytes);
  return true;
}

void follow_host(const Plan& plan) {
  for (uint32_t index : plan.updatable) {
    const Step& step = plan.steps[index];
    std::get<KernelStep>(*step.work).device_node->follow(step);
  }
}

}  // namespace limen::cpu
