// The calls on memory pools: allocation in stream order, pools by place, attributes, access.
// Sharing between processes is in pool_share.cpp. Thread rule: any thread.
#include <algorithm>
#include <cstring>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/capture.h"
#include "drivers/cpu/graph/graph_memory.h"
#include "drivers/cpu/memory/physical.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/memory/pool.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

CUresult allocate_async(CUdeviceptr* dptr, size_t bytes, MemPool& pool, const ResolvedStream& on) {
  *dptr = 0;
  if (!bytes) return CUDA_SUCCESS;  // measured H200, driver 580.x
  if (pool.imported) return CUDA_ERROR_INVALID_VALUE;
  if (on.capture) return capture_alloc(on, pool.props, bytes, dptr);
  uint64_t address = pool.allocate(bytes, on.context->owner, *on.stream);
  if (!address) {
    trim_pools(on.context->device);
    address = pool.allocate(bytes, on.context->owner, *on.stream);
  }
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  *dptr = address;
  return CUDA_SUCCESS;
}

/// Which places have pools. source: CUDA Driver API 13.0, cuMemGetDefaultMemPool.
CUresult check_place(const CUmemLocation& location, CUmemAllocationType type) {
  if (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != CU_MEM_ALLOCATION_TYPE_MANAGED)
    return CUDA_ERROR_INVALID_VALUE;
  if (location.type == CU_MEM_LOCATION_TYPE_NONE && type == CU_MEM_ALLOCATION_TYPE_MANAGED)
    return CUDA_SUCCESS;
  CUresult result = check_location_of_memory(location, 0);
  // measured H200, driver 580.159.04
  return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
}

CUmemLocation device_place(CUdevice device) { return {CU_MEM_LOCATION_TYPE_DEVICE, device}; }

bool same_place(const CUmemLocation& a, const CUmemLocation& b) {
  if (a.type != b.type) return false;
  bool has_id = a.type == CU_MEM_LOCATION_TYPE_DEVICE || a.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  return !has_id || a.id == b.id;
}

/// The key of a location in MemPool::access: ordinal, or -1 for the host.
CUresult access_key(const MemPool& pool, const CUmemLocation& location, int* key) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      if (!driver().device(location.id)) return CUDA_ERROR_INVALID_DEVICE;
      *key = location.id;
      return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      if (pool.device_ordinal() >= 0) return CUDA_ERROR_INVALID_VALUE;
      *key = -1;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

/// What is not freed yet when the stream gets there.
void free_later(const ResolvedStream& on, std::function<void()> release) {
  on.stream->task(std::move(release), true, false, true);
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::record)) return result;
  if (!dptr) return CUDA_ERROR_INVALID_VALUE;
  MemPool* pool =
      current_pool_of(device_place(on.context->device.ordinal()), CU_MEM_ALLOCATION_TYPE_PINNED);
  return pool ? allocate_async(dptr, bytesize, *pool, on) : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool hPool,
                                 CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::record)) return result;
  if (!dptr) return CUDA_ERROR_INVALID_VALUE;
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  return allocate_async(dptr, bytesize, *pool, on);
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::record)) return result;
  if (!dptr) return CUDA_SUCCESS;
  if (on.capture) return capture_free(on, dptr);
  PointerInfo info;
  if (!classify(dptr, &info) || info.block.base != dptr) return CUDA_ERROR_INVALID_VALUE;
  before_work(*on.context, *on.stream);
  if (info.block.kind == MemoryKind::graph) return free_graph_memory(dptr, on.stream);
  switch (info.block.kind) {
    case MemoryKind::pool: {
      MemPool* pool = pool_of(dptr);
      StreamPoint freed = on.stream->idle() ? StreamPoint{} : on.stream->tail();
      return pool && pool->release(dptr, std::move(freed)) ? CUDA_SUCCESS
                                                           : CUDA_ERROR_INVALID_VALUE;
    }
    case MemoryKind::imported:
      free_later(on, [dptr] { driver().virtual_space.displace(dptr, MemoryKind::imported); });
      return CUDA_SUCCESS;
    case MemoryKind::device: {
      Allocator* memory = &driver().device(info.device)->memory();
      free_later(on, [memory, dptr] { memory->release(dptr); });
      return CUDA_SUCCESS;
    }
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev) {
  if (!pool_out) return CUDA_ERROR_INVALID_VALUE;
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  *pool_out = handle_of(device->default_pool());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) {
  if (!pool || !driver().device(dev)) return CUDA_ERROR_INVALID_VALUE;
  *pool = handle_of(current_pool_of(device_place(dev), CU_MEM_ALLOCATION_TYPE_PINNED));
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool hPool) {
  if (!driver().device(dev)) return CUDA_ERROR_INVALID_VALUE;
  CUmemLocation location = device_place(dev);
  return cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, hPool);
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool_out, CUmemLocation* location,
                                CUmemAllocationType type) {
  if (!pool_out || !location) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check_place(*location, type)) return result;
  MemPool* pool;
  if (CUresult result = default_pool_of(*location, type, &pool)) return result;
  *pool_out = handle_of(pool);
  return CUDA_SUCCESS;
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  if (!pool || !location) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check_place(*location, type)) return result;
  MemPool* current = current_pool_of(*location, type);
  if (!current) return CUDA_ERROR_OUT_OF_MEMORY;
  *pool = handle_of(current);
  return CUDA_SUCCESS;
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool hPool) {
  if (!location) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check_place(*location, type)) return result;
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (pool->imported || pool->props.allocType != type ||
      !same_place(pool->props.location, *location))
    return CUDA_ERROR_INVALID_VALUE;
  set_current_pool(*location, type, pool);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* props) {
  if (!pool || !props || props->win32SecurityAttributes) return CUDA_ERROR_INVALID_VALUE;
  if (props->usage & ~unsigned(CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check_place(props->location, props->allocType)) return result;
  const bool managed = props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
  if (managed && props->handleTypes) return CUDA_ERROR_INVALID_VALUE;
  if (!managed)
    if (CUresult result = check_location_of_memory(props->location, props->handleTypes))
      return result;
  if (props->usage)
    return report({Code::not_supported, "pools for hardware decompression need a GPU", ""});
  MemPool* made;
  if (CUresult result = make_pool(*props, &made)) return result;
  *pool = handle_of(made);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool hPool) {
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (pool->is_default) return CUDA_ERROR_INVALID_VALUE;  // measured H200, driver 580.159.04
  end_pool(pool);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool hPool, size_t minBytesToKeep) {
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (pool->imported) return CUDA_ERROR_INVALID_VALUE;
  pool->trim(minBytesToKeep);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool hPool, CUmemPool_attribute attr, void* value) {
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  int number;
  uint64_t bytes;
  std::memcpy(&number, value, sizeof number);
  std::lock_guard lock(pool->mutex);
  switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      pool->reuse[attr - 1] = number != 0;
      return CUDA_SUCCESS;
    default:
      break;
  }
  std::memcpy(&bytes, value, sizeof bytes);
  switch (attr) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      pool->release_threshold = bytes;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      if (bytes) return CUDA_ERROR_INVALID_VALUE;
      pool->reserved_high = pool->reserved_bytes;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      if (bytes) return CUDA_ERROR_INVALID_VALUE;
      pool->used_high = pool->used_bytes;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuMemPoolGetAttribute(CUmemoryPool hPool, CUmemPool_attribute attr, void* value) {
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  auto put = [value](auto number) {
    std::memcpy(value, &number, sizeof number);
    return CUDA_SUCCESS;
  };
  std::lock_guard lock(pool->mutex);
  switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return put(pool->reuse[attr - 1]);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return put(pool->release_threshold.load());
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return put(pool->reserved_bytes.load());
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return put(pool->reserved_high);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return put(pool->used_bytes);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return put(pool->used_high);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuMemPoolSetAccess(CUmemoryPool hPool, const CUmemAccessDesc* map, size_t count) {
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (!map || !count) return CUDA_ERROR_INVALID_VALUE;
  std::vector<int> keys(count);
  for (size_t i = 0; i < count; ++i) {
    if (CUresult result = access_key(*pool, map[i].location, &keys[i])) return result;
    if (map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
        map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return CUDA_ERROR_INVALID_VALUE;
    // A device's access to its own pool cannot be revoked. The code: measured H200, driver
    // 580.159.04.
    if (keys[i] == pool->device_ordinal() && map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return CUDA_ERROR_INVALID_DEVICE;
  }
  std::lock_guard lock(pool->mutex);
  for (size_t i = 0; i < count; ++i) pool->access[keys[i]] = map[i].flags;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool hPool, CUmemLocation* location) {
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
  int key;
  CUresult result = access_key(*pool, *location, &key);
  // Unlike cuMemPoolSetAccess. measured H200, driver 580.159.04
  if (result) return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
  std::lock_guard lock(pool->mutex);
  auto found = pool->access.find(key);
  *flags = found == pool->access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
