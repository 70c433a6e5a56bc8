// cuGreenCtx*, cuDevResource*, cuDevSmResourceSplitByCount. See green.h.
// Partition sizes: CUDA Driver API 13.0, "Green Contexts": 8 multiprocessors and multiples of 8
// from compute capability 9.0 on, 2 where co-scheduling is ignored. Thread rule: any thread.
#include "drivers/cpu/green.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "abi/cpu_api.h"
#include "base/log.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/stream/order.h"
#include "drivers/cpu/stream/shared_event.h"

namespace limen::cpu {

namespace {

constexpr uint32_t partition_sms = 8, fine_partition_sms = 2;
/// Largest cluster: groups for it hold so many multiprocessors.
constexpr uint32_t cluster_partition_sms = engine::most_cluster_blocks;

/// What the padding of a resource holds. A split's outputs carry its number; inputs that may be
/// split carry 0. Sets of up to 512 multiprocessors fit as bits.
struct Sealed {
  uint64_t seal;
  uint64_t split;
  uint32_t device;
  uint32_t words[16];
};
constexpr uint64_t seal = 0x6c696d656e534d31;
constexpr uint32_t most_sms = 512;
static_assert(sizeof(Sealed) <= sizeof CUdevResource{}._internal_padding);

std::atomic<uint64_t> next_split{1}, next_id{1};

uint32_t least_partition(const Device& device) {
  return std::min(partition_sms, device.multiprocessors());
}

void write_resource(CUdevResource* out, const SmSet& set, uint64_t split, uint32_t least) {
  std::memset(out, 0, sizeof *out);
  out->type = CU_DEV_RESOURCE_TYPE_SM;
  out->sm.smCount = static_cast<unsigned>(set.sms.size());
  out->sm.minSmPartitionSize = least;
  out->sm.smCoscheduledAlignment = least;
  Sealed sealed{seal, split, set.device, {}};
  for (uint32_t sm : set.sms) sealed.words[sm / 32] |= 1u << sm % 32;
  std::memcpy(out->_internal_padding, &sealed, sizeof sealed);
}

/// Reads what write_resource wrote. errors: 914 for another type, 1 for what was never ours.
CUresult read_resource(const CUdevResource& resource, SmSet* set, uint64_t* split) {
  if (resource.type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  Sealed sealed;
  std::memcpy(&sealed, resource._internal_padding, sizeof sealed);
  if (sealed.seal != seal || !driver().device(static_cast<CUdevice>(sealed.device)))
    return CUDA_ERROR_INVALID_VALUE;
  set->device = sealed.device;
  set->sms.clear();
  for (uint32_t sm = 0; sm < most_sms; ++sm)
    if (sealed.words[sm / 32] >> sm % 32 & 1) set->sms.push_back(sm);
  *split = sealed.split;
  return set->sms.empty() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

SmSet all_of(const Device& device) {
  SmSet set{static_cast<uint32_t>(device.ordinal()), {}};
  set.sms.resize(std::min(device.multiprocessors(), most_sms));
  std::iota(set.sms.begin(), set.sms.end(), 0u);
  return set;
}

CUresult check_type(CUdevResourceType type) {
  return type == CU_DEV_RESOURCE_TYPE_SM ? CUDA_SUCCESS : CUDA_ERROR_INVALID_RESOURCE_TYPE;
}

/// Descriptions by content, so that programs which make one again and again do not grow.
struct DescriptionBook {
  std::mutex mutex;
  std::vector<ResourceDescription*> list;
};
DescriptionBook& descriptions() {
  static auto* book = new DescriptionBook;
  return *book;
}

ResourceDescription* description_of(SmSet set) {
  std::lock_guard lock(descriptions().mutex);
  for (ResourceDescription* one : descriptions().list)
    if (one->set.device == set.device && one->set.sms == set.sms) return one;
  auto* made = new ResourceDescription{std::move(set)};
  descriptions().list.push_back(made);
  return made;
}

ResourceDescription* find_description(CUdevResourceDesc handle) {
  auto* asked = reinterpret_cast<ResourceDescription*>(handle);
  std::lock_guard lock(descriptions().mutex);
  const auto& list = descriptions().list;
  return std::find(list.begin(), list.end(), asked) != list.end() ? asked : nullptr;
}

CUresult resolve_green(CUgreenCtx handle, GreenContext** green) {
  if (!handle) return CUDA_ERROR_INVALID_CONTEXT;
  *green = driver().greens.resolve(handle);
  if (*green) return CUDA_SUCCESS;
  return driver().greens.once_was(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                          : CUDA_ERROR_INVALID_CONTEXT;
}

std::shared_ptr<engine::Partition> make_partition(const SmSet& set, const Device& device) {
  auto partition = std::make_shared<engine::Partition>();
  partition->sms = set.sms;
  const uint64_t all = driver().pool->threads();
  const uint64_t share = all * set.sms.size() / std::max(device.multiprocessors(), 1u);
  partition->workers = static_cast<uint32_t>(std::clamp<uint64_t>(share, 1, all));
  return partition;
}

CUresult resolve_event_of(CUevent handle, EventHandle** event) {
  *event = driver().events.resolve(handle);
  return *event ? (*event)->context->sticky() : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace

std::vector<std::shared_ptr<Stream>> GreenContext::list_streams() {
  std::lock_guard lock(mutex);
  return streams;
}

StreamHandle* make_green_stream(GreenContext& green, Stream::Kind kind, int priority,
                                unsigned flags) {
  StreamHandle* handle = make_stream(*green.primary, kind, priority, flags);
  if (!handle) return nullptr;
  handle->green = &green;
  handle->partition = green.partition;
  std::lock_guard lock(green.mutex);
  std::erase_if(green.streams, [](const auto& one) { return one.use_count() == 1 && one->idle(); });
  green.streams.push_back(handle->stream);
  return handle;
}

uint32_t multiprocessors_for(const Device& device, const StreamHandle* handle) {
  return handle && handle->partition ? static_cast<uint32_t>(handle->partition->sms.size())
                                     : device.multiprocessors();
}

CUresult cuDeviceGetDevResource(CUdevice dev, CUdevResource* resource, CUdevResourceType type) {
  if (!resource) return CUDA_ERROR_INVALID_VALUE;
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (CUresult result = check_type(type)) return result;
  write_resource(resource, all_of(*device), 0, least_partition(*device));
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource* resource, CUdevResourceType type) {
  if (!resource) return CUDA_ERROR_INVALID_VALUE;
  if (!hCtx) return CUDA_ERROR_INVALID_CONTEXT;
  if (GreenContext* green = driver().greens.resolve(hCtx))
    return cuGreenCtxGetDevResource(reinterpret_cast<CUgreenCtx>(green), resource, type);
  Context* context;
  if (CUresult result = context_of(hCtx, &context)) return result;
  return cuDeviceGetDevResource(context->device.ordinal(), resource, type);
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource* resource,
                                  CUdevResourceType type) {
  if (!resource) return CUDA_ERROR_INVALID_VALUE;
  GreenContext* green;
  if (CUresult result = resolve_green(hCtx, &green)) return result;
  if (CUresult result = check_type(type)) return result;
  write_resource(resource, green->set, 0, least_partition(green->primary->device));
  return CUDA_SUCCESS;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned int* nbGroups,
                                     const CUdevResource* input, CUdevResource* remaining,
                                     unsigned int useFlags, unsigned int minCount) {
  // Unknown flags are passed over: measured H200, driver 580.159.04.
  if (!nbGroups || !input) return CUDA_ERROR_INVALID_VALUE;
  SmSet set;
  uint64_t split;
  if (CUresult code = read_resource(*input, &set, &split)) return code;
  const auto total = static_cast<uint32_t>(set.sms.size());
  if (minCount > total) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  // Outputs of a split become inputs through a green context only.
  if (split) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  const bool fine = useFlags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING;
  const Device& device = *driver().device(static_cast<CUdevice>(set.device));
  uint32_t step = std::min(fine ? fine_partition_sms : least_partition(device), total);
  uint32_t least = step;
  if (useFlags & CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE)
    least = std::max(least, std::min(cluster_partition_sms, total));
  const uint32_t size = (std::max(minCount, least) + step - 1) / step * step;
  uint32_t groups = total / size;
  if (!groups) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  if (!result) {
    *nbGroups = groups;
    return CUDA_SUCCESS;
  }
  if (!*nbGroups) return CUDA_ERROR_INVALID_VALUE;
  groups = std::min(groups, *nbGroups);
  const uint64_t number = next_split++;
  auto at = set.sms.begin();
  for (uint32_t i = 0; i < groups; ++i, at += size)
    write_resource(&result[i], {set.device, {at, at + size}}, number, step);
  if (remaining) {
    std::memset(remaining, 0, sizeof *remaining);
    if (at != set.sms.end())
      write_resource(remaining, {set.device, {at, set.sms.end()}}, number, step);
  }
  *nbGroups = groups;
  return CUDA_SUCCESS;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* phDesc, CUdevResource* resources,
                                   unsigned int nbResources) {
  if (!phDesc || !resources || !nbResources) return CUDA_ERROR_INVALID_VALUE;
  SmSet all;
  for (unsigned i = 0; i < nbResources; ++i) {
    SmSet set;
    uint64_t split;
    if (CUresult result = read_resource(resources[i], &set, &split)) return result;
    // Groups of several splits go together, and what they share counts once: measured H200, driver
    // 580.159.04.
    if (i && (set.device != all.device || !split)) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    all.device = set.device;
    all.sms.insert(all.sms.end(), set.sms.begin(), set.sms.end());
  }
  std::sort(all.sms.begin(), all.sms.end());
  all.sms.erase(std::unique(all.sms.begin(), all.sms.end()), all.sms.end());
  *phDesc = reinterpret_cast<CUdevResourceDesc>(description_of(std::move(all)));
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx* phCtx, CUdevResourceDesc desc, CUdevice dev,
                          unsigned int flags) {
  if (!phCtx || flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  // No description stands for the whole device: measured H200, driver 580.159.04.
  const ResourceDescription* description =
      desc ? find_description(desc) : description_of(all_of(*device));
  if (!description || description->set.device != static_cast<uint32_t>(dev))
    return CUDA_ERROR_INVALID_VALUE;
  GreenContext* green = driver().greens.create();
  if (!green) return CUDA_ERROR_OUT_OF_MEMORY;
  CUcontext primary;
  if (CUresult result = cuDevicePrimaryCtxRetain(&primary, dev)) return result;
  green->primary = device->primary();
  green->owner = green->primary->owner;
  green->id = next_id++;
  green->set = description->set;
  green->partition = make_partition(green->set, *device);
  green->default_stream =
      make_green_stream(*green, Stream::Kind::non_blocking, 0, CU_STREAM_DEFAULT);
  if (!green->default_stream) {
    driver().greens.destroy(green);
    cuDevicePrimaryCtxRelease(dev);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *phCtx = reinterpret_cast<CUgreenCtx>(green);
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxDestroy(CUgreenCtx hCtx) {
  GreenContext* green;
  if (CUresult result = resolve_green(hCtx, &green)) return result;
  if (!driver().greens.retire(green)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (process_is_exiting()) return CUDA_SUCCESS;
  if (driver().context_end_hook) driver().context_end_hook(handle_of(green));
  for (auto& stream : green->list_streams()) stream->wait_all(WaitPolicy::automatic);
  // A reset of the primary context has taken the streams with it.
  const bool same_life = green->primary->active && green->primary->owner == green->owner;
  if (same_life) retire_stream(green->default_stream);
  const CUdevice device = green->primary->device.ordinal();
  driver().greens.destroy(green);
  cuDevicePrimaryCtxRelease(device);
  return CUDA_SUCCESS;
}

CUresult cuCtxFromGreenCtx(CUcontext* pContext, CUgreenCtx hCtx) {
  if (!pContext) return CUDA_ERROR_INVALID_VALUE;
  GreenContext* green;
  if (CUresult result = resolve_green(hCtx, &green)) return result;
  *pContext = handle_of(green);
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long* greenCtxId) {
  if (!greenCtxId) return CUDA_ERROR_INVALID_VALUE;
  GreenContext* green;
  if (!greenCtx) {
    if (CUresult result = current_green(&green)) return result;
    if (!green) return CUDA_ERROR_INVALID_CONTEXT;
  } else if (CUresult result = resolve_green(greenCtx, &green)) {
    return result;
  }
  *greenCtxId = green->id;
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(CUstream* phStream, CUgreenCtx greenCtx, unsigned int flags,
                                int priority) {
  if (!phStream || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  GreenContext* green;
  if (CUresult result = resolve_green(greenCtx, &green)) return result;
  if (CUresult result = green->primary->sticky()) return result;
  priority = std::min(std::max(priority, greatest_priority), least_priority);
  StreamHandle* handle = make_green_stream(*green, Stream::Kind::non_blocking, priority, flags);
  if (!handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *phStream = reinterpret_cast<CUstream>(handle);
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent) {
  GreenContext* green;
  if (CUresult result = resolve_green(hCtx, &green)) return result;
  EventHandle* event;
  if (CUresult result = resolve_event_of(hEvent, &event)) return result;
  if (event->context != green->primary) return CUDA_ERROR_INVALID_HANDLE;
  auto collector = std::make_shared<Stream>(*green->primary, Stream::Kind::non_blocking, 0);
  for (auto& stream : green->list_streams()) collector->wait_for(stream->tail());
  green->primary->adopt(collector);
  if (event->state->shared)
    record_shared(event->state->shared, *collector);
  else
    collector->record(event->state);
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent) {
  GreenContext* green;
  if (CUresult result = resolve_green(hCtx, &green)) return result;
  EventHandle* event;
  if (CUresult result = resolve_event_of(hEvent, &event)) return result;
  if (event->state->shared) {
    for (auto& stream : green->list_streams()) wait_for_shared(event->state->shared, *stream);
    return CUDA_SUCCESS;
  }
  StreamPoint point = event->state->latest();
  if (point.reached()) return CUDA_SUCCESS;
  for (auto& stream : green->list_streams()) stream->wait_for(point);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx* phCtx) {
  if (!phCtx) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  *phCtx = reinterpret_cast<CUgreenCtx>(on.handle ? on.handle->green : nullptr);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
