// cuStreamGetAttribute, cuStreamSetAttribute, cuStreamCopyAttributes. See attribute.h.
// Thread rule: any thread.
#include "drivers/cpu/stream/attribute.h"

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

StreamAttributes& attributes_of(const ResolvedStream& on) {
  return on.handle ? on.handle->attributes : on.context->legacy_attributes;
}

CUresult check_window(const CUaccessPolicyWindow& window, const Device& device) {
  const auto most = device.limit(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
  if (window.num_bytes > static_cast<size_t>(most)) return CUDA_ERROR_INVALID_VALUE;
  if (!(window.hitRatio >= 0.0f && window.hitRatio <= 1.0f)) return CUDA_ERROR_INVALID_VALUE;
  if (window.hitProp < CU_ACCESS_PROPERTY_NORMAL || window.hitProp > CU_ACCESS_PROPERTY_PERSISTING)
    return CUDA_ERROR_INVALID_VALUE;
  // source: CUDA Driver API 13.0, CUaccessPolicyWindow: missProp is normal or streaming.
  if (window.missProp != CU_ACCESS_PROPERTY_NORMAL &&
      window.missProp != CU_ACCESS_PROPERTY_STREAMING)
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

int clamp_priority(int priority) {
  return std::min(std::max(priority, greatest_priority), least_priority);
}

}  // namespace

CUresult check_shared_attribute(CUlaunchAttributeID attribute, const CUlaunchAttributeValue& value,
                                const Device& device) {
  const auto domains =
      static_cast<unsigned>(device.limit(CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT));
  auto valid = [](bool good) { return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; };
  switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      return check_window(value.accessPolicyWindow, device);
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      return CUDA_SUCCESS;  // clamped, as at the stream's creation
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      return valid(value.memSyncDomainMap.default_ < domains &&
                   value.memSyncDomainMap.remote < domains);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return valid(value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT ||
                   value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      return valid(value.nvlinkUtilCentricScheduling <= 1);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

WaitPolicy wait_policy_of(const ResolvedStream& on) {
  CUsynchronizationPolicy policy;
  {
    std::lock_guard lock(on.context->mutex);
    policy = attributes_of(on).sync_policy;
  }
  switch (policy) {
    case CU_SYNC_POLICY_SPIN:
      return WaitPolicy::spin;
    case CU_SYNC_POLICY_YIELD:
      return WaitPolicy::yield;
    case CU_SYNC_POLICY_BLOCKING_SYNC:
      return WaitPolicy::block;
    default:
      return on.context->wait_policy();
  }
}

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                              const CUstreamAttrValue* value) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  const bool policy = attr == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
  if (policy &&
      (value->syncPolicy < CU_SYNC_POLICY_AUTO || value->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC))
    return CUDA_ERROR_INVALID_VALUE;
  if (!policy)
    if (CUresult result = check_shared_attribute(attr, *value, on.context->device)) return result;
  std::lock_guard lock(on.context->mutex);
  StreamAttributes& attributes = attributes_of(on);
  switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      attributes.window = value->accessPolicyWindow;
      break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      attributes.sync_policy = value->syncPolicy;
      break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      on.stream->set_priority(clamp_priority(value->priority));
      break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      attributes.domain_map = value->memSyncDomainMap;
      break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      attributes.domain = value->memSyncDomain;
      break;
    default:  // the check let nothing else pass
      attributes.nvlink_centric = value->nvlinkUtilCentricScheduling;
      break;
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(on.context->mutex);
  const StreamAttributes& attributes = attributes_of(on);
  switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      value->accessPolicyWindow = attributes.window;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      value->syncPolicy = attributes.sync_policy;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      value->priority = on.stream->priority();
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      value->memSyncDomainMap = attributes.domain_map;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      value->memSyncDomain = attributes.domain;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      value->nvlinkUtilCentricScheduling = attributes.nvlink_centric;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
  ResolvedStream to, from;
  if (CUresult result = resolve_stream(dst, &to, UnderCapture::ignore)) return result;
  if (CUresult result = resolve_stream(src, &from, UnderCapture::ignore)) return result;
  // source: CUDA Driver API 13.0, cuStreamCopyAttributes: both streams are of the same context.
  if (to.context != from.context) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(to.context->mutex);
  attributes_of(to) = attributes_of(from);
  to.stream->set_priority(from.stream->priority());
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
