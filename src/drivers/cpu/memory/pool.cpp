// Memory pools and the calls on them. Pools live on devices, not in contexts; a context that ends
// takes its blocks with it. Thread rule: see the header; PoolBook::mutex is taken before a pool's.
#include "drivers/cpu/memory/pool.h"

#include <algorithm>
#include <cstring>
#include <shared_mutex>
#include <vector>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/capture.h"
#include "drivers/cpu/graph/graph_memory.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

/// All pools, and each device's current one.
struct PoolBook {
  std::shared_mutex mutex;
  std::vector<MemPool*> pools;
  std::map<int, MemPool*> current;
};
PoolBook& book() {
  static auto* made = new PoolBook;
  return *made;
}

CUresult resolve_pool(CUmemoryPool handle, MemPool** pool) {
  *pool = driver().pools.resolve(handle);
  return *pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MemPool* current_pool(Device& device) {
  std::shared_lock lock(book().mutex);
  auto found = book().current.find(device.ordinal());
  return found == book().current.end() ? device.default_pool() : found->second;
}

CUresult allocate_async(CUdeviceptr* dptr, size_t bytes, MemPool& pool, const ResolvedStream& on) {
  *dptr = 0;
  if (!bytes) return CUDA_SUCCESS;  // measured H200, driver 580.x
  if (on.capture) {
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, pool.device.ordinal()};
    return capture_alloc(on, props, bytes, dptr);
  }
  // The stream's free blocks are safe to hand out at once: later work of this stream comes after
  // the free. A block from elsewhere is taken only when nobody can still be using it.
  uint64_t address = pool.allocate(bytes, on.context->owner, *on.stream);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  *dptr = address;
  return CUDA_SUCCESS;
}

}  // namespace

uint64_t MemPool::allocate(uint64_t bytes, uint32_t owner, Stream& stream) {
  std::lock_guard lock(mutex);
  Allocator& memory = device.memory();
  // A block may be larger than asked for, but not wastefully so.
  uint64_t most = bytes + bytes / 4 + (64 << 10);
  for (auto it = idle.lower_bound(bytes); it != idle.end() && it->first <= most; ++it) {
    Idle& block = it->second;
    if (block.owner != owner) continue;
    if (block.freed.stream.get() != &stream && !block.freed.reached()) continue;
    if (!memory.reuse(block.base, bytes, MemoryKind::pool, owner)) continue;
    uint64_t base = block.base, reserved = it->first;
    idle_bytes -= reserved;
    used_bytes += reserved;
    used_high = std::max(used_high, used_bytes);
    idle.erase(it);
    live.emplace(base, reserved);
    return base;
  }
  if (most_bytes && reserved_bytes + bytes > most_bytes) return 0;
  uint64_t base = memory.allocate(bytes, MemoryKind::pool, owner);
  if (!base) return 0;
  live.emplace(base, bytes);
  used_bytes += bytes;
  reserved_bytes += bytes;
  used_high = std::max(used_high, used_bytes);
  reserved_high = std::max(reserved_high, reserved_bytes);
  return base;
}

bool MemPool::release(uint64_t base, StreamPoint freed) {
  std::lock_guard lock(mutex);
  auto found = live.find(base);
  if (found == live.end()) return false;
  uint64_t bytes = found->second;
  Allocation block;
  if (!device.memory().find(base, &block)) return false;
  live.erase(found);
  device.memory().reuse(base, bytes, MemoryKind::idle, block.owner);
  idle.emplace(bytes, Idle{base, block.owner, std::move(freed)});
  idle_bytes += bytes;
  used_bytes -= bytes;
  return true;
}

void MemPool::trim(uint64_t keep_bytes) {
  std::lock_guard lock(mutex);
  for (auto it = idle.begin(); it != idle.end() && reserved_bytes > keep_bytes;) {
    if (!it->second.freed.reached()) {
      ++it;
      continue;
    }
    device.memory().release(it->second.base);
    idle_bytes -= it->first;
    reserved_bytes -= it->first;
    it = idle.erase(it);
  }
}

void MemPool::forget(uint32_t owner) {
  std::lock_guard lock(mutex);
  for (auto it = idle.begin(); it != idle.end();) {
    if (it->second.owner != owner) {
      ++it;
      continue;
    }
    idle_bytes -= it->first;
    reserved_bytes -= it->first;
    it = idle.erase(it);
  }
  for (auto it = live.begin(); it != live.end();) {
    Allocation block;
    if (device.memory().find(it->first, &block) && block.owner != owner) {
      ++it;
      continue;
    }
    used_bytes -= it->second;
    reserved_bytes -= it->second;
    it = live.erase(it);
  }
}

MemPool* make_default_pool(Device& device) {
  MemPool* pool = driver().pools.create(device, 0);
  pool->is_default = true;
  std::unique_lock lock(book().mutex);
  book().pools.push_back(pool);
  return pool;
}

MemPool* pool_of(uint64_t address) {
  Allocator* memory = driver().allocator_of(address);
  Allocation block;
  if (!memory || !memory->find(address, &block) || block.kind != MemoryKind::pool) return nullptr;
  std::shared_lock lock(book().mutex);
  for (MemPool* pool : book().pools) {
    std::lock_guard inside(pool->mutex);
    if (pool->live.count(block.base)) return pool;
  }
  return nullptr;
}

CUresult free_to_pool_now(uint64_t base) {
  MemPool* pool = pool_of(base);
  return pool && pool->release(base, {}) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void trim_pools(Device& device) {
  std::shared_lock lock(book().mutex);
  for (MemPool* pool : book().pools)
    if (&pool->device == &device && pool->idle_bytes.load()) pool->trim(0);
}

void trim_pools_at_sync(Device& device) {
  std::shared_lock lock(book().mutex);
  for (MemPool* pool : book().pools)
    if (&pool->device == &device && pool->idle_bytes.load(std::memory_order_relaxed))
      pool->trim(pool->release_threshold.load());
}

void forget_pool_blocks(uint32_t owner) {
  std::shared_lock lock(book().mutex);
  for (MemPool* pool : book().pools) pool->forget(owner);
}

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::record)) return result;
  if (!dptr) return CUDA_ERROR_INVALID_VALUE;
  return allocate_async(dptr, bytesize, *current_pool(on.context->device), on);
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
  if (info.block.kind == MemoryKind::graph) return free_graph_memory(dptr);
  before_work(*on.context, *on.stream);
  if (info.block.kind == MemoryKind::pool) {
    MemPool* pool = pool_of(dptr);
    StreamPoint freed = on.stream->idle() ? StreamPoint{} : on.stream->tail();
    return pool && pool->release(dptr, std::move(freed)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  if (info.block.kind != MemoryKind::device) return CUDA_ERROR_INVALID_VALUE;
  // A block of cuMemAlloc is freed when the stream gets there.
  Allocator* memory = &driver().device(info.device)->memory();
  on.stream->task([memory, dptr] { memory->release(dptr); }, true, false, true);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev) {
  if (!pool_out) return CUDA_ERROR_INVALID_VALUE;
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  *pool_out = handle_of(device->default_pool());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  *pool = handle_of(current_pool(*device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool hPool) {
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (&pool->device != device) return CUDA_ERROR_INVALID_VALUE;
  std::unique_lock lock(book().mutex);
  book().current[dev] = pool;
  return CUDA_SUCCESS;
}

/// partial: pools on a device only
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool_out, CUmemLocation* location,
                                CUmemAllocationType type) {
  if (!pool_out || !location || type != CU_MEM_ALLOCATION_TYPE_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
    return report({Code::not_supported, "memory pools on the host are not built yet", ""});
  return cuDeviceGetDefaultMemPool(pool_out, location->id);
}

/// partial: pools on a device only
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  if (!pool || !location || type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
    return report({Code::not_supported, "memory pools on the host are not built yet", ""});
  return cuDeviceGetMemPool(pool, location->id);
}

/// partial: pools on a device only
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
    return report({Code::not_supported, "memory pools on the host are not built yet", ""});
  return cuDeviceSetMemPool(location->id, pool);
}

/// partial: pools on a device only, without shareable handles
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* props) {
  if (!pool || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || props->handleTypes)
    return report({Code::not_supported,
                   "memory pools on the host or with shareable handles are not built yet", ""});
  Device* device = driver().device(props->location.id);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  MemPool* made = driver().pools.create(*device, props->maxSize);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  std::unique_lock lock(book().mutex);
  book().pools.push_back(made);
  *pool = handle_of(made);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool hPool) {
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (pool->is_default) return CUDA_ERROR_NOT_PERMITTED;
  // Work in flight may still use blocks freed in stream order.
  Context* primary = pool->device.primary();
  if (primary->active && primary->busy()) primary->synchronize();
  pool->trim(0);
  std::unique_lock lock(book().mutex);
  std::erase(book().pools, pool);
  std::erase_if(book().current, [&](const auto& entry) { return entry.second == pool; });
  for (const auto& [base, bytes] : pool->live)
    pool->device.memory().reuse(base, bytes, MemoryKind::device, pool->device.primary()->owner);
  driver().pools.destroy(pool);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool hPool, size_t minBytesToKeep) {
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
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
      return put(pool->reserved_bytes);
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
  for (size_t i = 0; i < count; ++i) {
    if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    if (!driver().device(map[i].location.id)) return CUDA_ERROR_INVALID_DEVICE;
    bool own = map[i].location.id == pool->device.ordinal();
    if (own && map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;  // every device can reach all memory
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool hPool, CUmemLocation* location) {
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
  if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(location->id)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
