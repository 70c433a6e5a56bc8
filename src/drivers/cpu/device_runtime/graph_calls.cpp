// What kernels do to graphs: launching them, and changing their kernel nodes. Invariant: the
// kernel's memory is read outside of HostSections, piece by piece, since it may fault.
// What they refuse is no thread's last error: measured H200, driver 580.159.04.
// Thread rule: as device_grid.h.
#include <algorithm>

#include "drivers/cpu/device_runtime/device_grid.h"
#include "drivers/cpu/graph/device_node.h"
#include "engine/fault.h"

namespace limen::cpu {

namespace {

using kernel::DeviceCall;

/// source: CUDA Runtime API 13.0, cudaGraphKernelNodeField.
enum Field : uint32_t { grid_field = 1, param_field = 2, enabled_field = 3 };

}  // namespace

int DeviceGrid::graph_launch(const engine::DeviceCall& call) {
  // source: CUDA C++ Programming Guide 13.0, "Device Launch": only from another graph. The code is
  // ours: the H200's kernel ends without one.
  if (!tree_->environment) return invalid_value;
  return tree_->environment->launch_from_kernel(call.args[0], call.args[1], tree_->context);
}

/// One change. The addresses in it are the kernel's.
int DeviceGrid::change_node(const NodeChange& change) const {
  std::array<uint8_t, 256> piece;
  const bool is_param = change.field == param_field;
  {
    engine::HostSection host;
    std::shared_ptr<DeviceNode> node = DeviceNode::find(change.node);
    if (!node || node->device() != &tree_->context.device) return invalid_value;
    if (change.field == grid_field) return node->set_grid(change.grid) ? success : invalid_value;
    if (change.field == enabled_field)
      return node->set_enabled(change.enabled != 0) ? success : invalid_value;
    if (!is_param || !change.param.value ||
        !node->has_params(change.param.offset, change.param.bytes))
      return invalid_value;
  }
  for (uint64_t at = 0; at < change.param.bytes; at += piece.size()) {
    const uint64_t bytes = std::min<uint64_t>(piece.size(), change.param.bytes - at);
    __builtin_memcpy(piece.data(), reinterpret_cast<const void*>(change.param.value + at), bytes);
    engine::HostSection host;
    std::shared_ptr<DeviceNode> node = DeviceNode::find(change.node);
    if (!node || !node->set_params(change.param.offset + at, piece.data(), bytes))
      return invalid_value;
  }
  return success;
}

/// cudaGraphKernelNode*: changes are made in their order, up to the first wrong one.
uint64_t DeviceGrid::change_nodes(engine::DeviceCall& call) {
  NodeChange change{call.args[0], 0, {}};
  int code = success;
  switch (static_cast<DeviceCall>(call.function)) {
    case DeviceCall::graph_kernel_node_set_param:
      change.field = param_field;
      change.param = {call.args[2], call.args[1], call.args[3]};
      code = change_node(change);
      break;
    case DeviceCall::graph_kernel_node_set_enabled:
      change.field = enabled_field;
      // A bool: what the compiler has put beside it means nothing.
      change.enabled = static_cast<uint8_t>(call.args[1]);
      code = change_node(change);
      break;
    case DeviceCall::graph_kernel_node_set_grid_dim:
      change.field = grid_field;
      __builtin_memcpy(change.grid, reinterpret_cast<const void*>(call.args[1]),
                       sizeof change.grid);
      code = change_node(change);
      break;
    default:
      if (!call.args[0] && call.args[1]) code = invalid_value;
      for (uint64_t i = 0; code == success && i < call.args[1]; ++i) {
        __builtin_memcpy(&change, reinterpret_cast<const void*>(call.args[0] + i * sizeof change),
                         sizeof change);
        code = change_node(change);
      }
      break;
  }
  return static_cast<uint64_t>(code);
}

}  // namespace limen::cpu
