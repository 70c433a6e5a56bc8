// The attributes of cuLaunchKernelEx, one by one. See launch_attribute.h.
// source: CUDA Driver API 13.0, CUlaunchAttributeID and CUlaunchAttributeValue.
// Thread rule: any thread.
#include "drivers/cpu/launch_attribute.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/stream/attribute.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

/// An event that a launch records: of the same context, without timing, not inside a graph.
CUresult read_event(CUevent handle, int flags, const Context& context,
                    std::shared_ptr<EventState>* out) {
  if (flags != CU_EVENT_RECORD_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
  EventHandle* event = driver().events.resolve(handle);
  if (!event || event->context != &context) return CUDA_ERROR_INVALID_HANDLE;
  if (event->state->timing) return CUDA_ERROR_NOT_SUPPORTED;
  *out = event->state;
  return CUDA_SUCCESS;
}

template <typename Dimensions>
CUresult read_dimensions(const Dimensions& asked, bool* has, uint32_t out[3]) {
  if (!asked.x || !asked.y || !asked.z) return CUDA_ERROR_INVALID_VALUE;
  *has = true;
  out[0] = asked.x, out[1] = asked.y, out[2] = asked.z;
  return CUDA_SUCCESS;
}

CUresult valid(bool good) { return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

CUresult read_attribute(CUlaunchAttributeID id, const CUlaunchAttributeValue& value,
                        const Context& context, LaunchOptions* options) {
  constexpr unsigned default_carveout = ~0u;
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      return check_shared_attribute(id, value, context.device);
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      options->cooperative = value.cooperative != 0;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      // Three zeros are no cluster: measured H200, driver 580.159.04.
      if (!value.clusterDim.x && !value.clusterDim.y && !value.clusterDim.z) return CUDA_SUCCESS;
      return read_dimensions(value.clusterDim, &options->has_cluster, options->cluster);
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      return read_dimensions(value.preferredClusterDim, &options->has_preferred_cluster,
                             options->preferred_cluster);
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return valid(
          value.clusterSchedulingPolicyPreference >= CU_CLUSTER_SCHEDULING_POLICY_DEFAULT &&
          value.clusterSchedulingPolicyPreference <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      return CUDA_SUCCESS;  // it allows an overlap; full order is allowed, too
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      return read_event(value.programmaticEvent.event, value.programmaticEvent.flags, context,
                        &options->all_over);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      return read_event(value.launchCompletionEvent.event, value.launchCompletionEvent.flags,
                        context, &options->all_begun);
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      options->has_priority = true;
      options->priority = std::min(std::max(value.priority, greatest_priority), least_priority);
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return valid(value.sharedMemCarveout <= 100 || value.sharedMemCarveout == default_carveout);
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      options->device_updatable = value.deviceUpdatableKernelNode.deviceUpdatable == 1;
      return valid(options->device_updatable ||
                   value.deviceUpdatableKernelNode.deviceUpdatable == 0);
    default:  // also the synchronisation policy, which is a stream's
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult read_launch_attributes(const CUlaunchConfig& config, const Context& context,
                                LaunchOptions* options) {
  return read_launch_attributes(config.attrs, config.numAttrs, context, options);
}

CUresult read_launch_attributes(const CUlaunchAttribute* list, unsigned count,
                                const Context& context, LaunchOptions* options) {
  if (count && !list) return CUDA_ERROR_INVALID_VALUE;
  options->attributes = list;
  options->attribute_count = count;
  for (unsigned i = 0; i < count; ++i) {
    const CUlaunchAttribute& attribute = list[i];
    if (CUresult result = read_attribute(attribute.id, attribute.value, context, options)) {
      log::write(log::Level::info, fmt::format("launch attribute {} of number {} is refused: {}", i,
                                               int(attribute.id), int(result)));
      return result;
    }
  }
  return CUDA_SUCCESS;
}

CUresult check_preferred_cluster(const LaunchOptions& options, const uint32_t grid[3],
                                 const uint32_t cluster[3]) {
  if (!options.has_preferred_cluster) return CUDA_SUCCESS;
  for (int i = 0; i < 3; ++i) {
    const uint32_t preferred = options.preferred_cluster[i];
    const bool fits = i == 2 ? preferred == cluster[i] : preferred % cluster[i] == 0;
    if (fits && grid[i] % preferred == 0) continue;
    log::write(log::Level::warn,
               fmt::format("the preferred cluster's dimension {} of {} blocks fits neither the "
                           "grid's {} nor the cluster's {}",
                           i, preferred, grid[i], cluster[i]));
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  }
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
