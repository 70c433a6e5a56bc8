// Memory pools: blocks, reuse, trimming, and the book of all pools. Pools live on devices or the
// host, not in contexts; a context that ends takes its blocks with it. The calls are in
// pool_api.cpp and pool_share.cpp. Thread rule: see the header.
#include "drivers/cpu/memory/pool.h"

#include <algorithm>
#include <shared_mutex>
#include <tuple>
#include <vector>

#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/physical.h"

namespace limen::cpu {

namespace {

using Place = std::tuple<int, int, int>;  ///< allocation type, location type, id

/// All pools, each place's default one and its current one.
struct PoolBook {
  std::shared_mutex mutex;
  std::vector<MemPool*> pools;
  std::map<Place, MemPool*> defaults, current;
  std::atomic<uint64_t> idle_bytes{0};  ///< of all pools
};
PoolBook& book() {
  static auto* made = new PoolBook;
  return *made;
}

Place place_of(const CUmemLocation& location, CUmemAllocationType type) {
  bool has_id = location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  return {type, location.type, has_id ? location.id : 0};
}

/// The device whose memory a pool's blocks count as, or nullptr for pinned host memory. Managed
/// memory without a preferred device is the first one's.
Device* device_of(const CUmemPoolProps& props) {
  if (props.location.type == CU_MEM_LOCATION_TYPE_DEVICE) return driver().device(props.location.id);
  return props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED ? driver().device(0) : nullptr;
}

/// Gives an exportable pool its file, its addresses and an allocator over both.
bool make_private_memory(MemPool& pool) {
  const uint64_t limit = pool.charged->limit_bytes();
  uint64_t bytes = pool.most_bytes ? std::min(pool.most_bytes, limit) : limit;
  // Twice the room: guards and the search for fresh addresses use addresses, not memory.
  bytes = (bytes + chunk_bytes - 1) / chunk_bytes * chunk_bytes * 2 + 64 * chunk_bytes;
  pool.file = SharedFile::create("limen-pool", bytes + ShareRecord::page_bytes);
  if (!pool.file) return false;
  ShareRecord record;
  record.kind = ShareRecord::Kind::pool;
  record.bytes = bytes;
  record.prop.location = pool.props.location;
  if (!record.write_to(*pool.file)) return false;
  VirtualSpace& space = driver().virtual_space;
  pool.range = space.reserve(bytes, 0, 0);
  if (!pool.range) return false;
  auto freed_waits = [] { driver().ageing.wake(); };
  pool.memory = new Allocator({pool.range, bytes, limit, "pool", {}, freed_waits, pool.file});
  space.add_allocator(pool.range, pool.memory);
  return true;
}

/// Destroys pools that were ended and have no blocks left.
void sweep_ended_pools() {
  std::vector<MemPool*> gone;
  {
    std::unique_lock lock(book().mutex);
    std::erase_if(book().pools, [&](MemPool* pool) {
      if (!pool->ending) return false;
      {
        std::lock_guard inside(pool->mutex);
        if (!pool->live.empty() || !pool->idle.empty()) return false;
      }
      gone.push_back(pool);
      return true;
    });
  }
  for (MemPool* pool : gone) driver().pools.destroy(pool);
}

bool belongs_to(const MemPool& pool, const Device& device) {
  return pool.memory && (pool.device_ordinal() == device.ordinal() || pool.device_ordinal() < 0);
}

}  // namespace

MemPool::~MemPool() {
  if (!range) return;
  VirtualSpace& space = driver().virtual_space;
  space.remove_allocator(range);
  const uint64_t bytes = file->bytes() - ShareRecord::page_bytes;
  delete memory;
  space.unreserve(range, bytes);
}

uint64_t MemPool::take_idle(uint64_t bytes, uint64_t most, uint32_t owner, Stream& stream, bool any,
                            StreamPoint* after) {
  for (auto it = idle.lower_bound(bytes); it != idle.end() && it->first <= most; ++it) {
    Idle& block = it->second;
    if (block.owner != owner) continue;
    const bool own = block.freed.stream.get() == &stream || !block.freed.stream;
    if (!own && !any && !(reuse[1] && block.freed.reached())) continue;
    if (!memory->reuse(block.base, bytes, MemoryKind::pool, owner)) continue;
    const uint64_t base = block.base, reserved = it->first;
    *after = own ? StreamPoint{} : block.freed;
    count_idle(-static_cast<int64_t>(reserved));
    used_bytes += reserved;
    used_high = std::max(used_high, used_bytes);
    idle.erase(it);
    live.emplace(base, reserved);
    return base;
  }
  return 0;
}

uint64_t MemPool::make_block(uint64_t bytes, uint32_t owner) {
  if (most_bytes && (bytes > most_bytes || reserved_bytes > most_bytes - bytes)) return 0;
  // What was freed and kept is not charged, but is memory all the same.
  if (charged && !charged->charge(bytes)) {
    if (!memory->freed_bytes()) return 0;
    memory->drop_freed();
    if (!charged->charge(bytes)) return 0;
  }
  const uint64_t base =
      memory->allocate(bytes, MemoryKind::pool, owner, managed() ? pool_block_managed : 0);
  if (!base) {
    if (charged) charged->uncharge(bytes);
    return 0;
  }
  live.emplace(base, bytes);
  used_bytes += bytes;
  reserved_bytes += bytes;
  used_high = std::max(used_high, used_bytes);
  reserved_high = std::max(reserved_high, reserved_bytes.load());
  return base;
}

uint64_t MemPool::allocate(uint64_t bytes, uint32_t owner, Stream& stream) {
  StreamPoint after;
  uint64_t base;
  {
    std::lock_guard lock(mutex);
    // A block may be larger than asked for, but not wastefully so.
    base = take_idle(bytes, bytes + bytes / 4 + (64 << 10), owner, stream, false, &after);
    if (!base) base = make_block(bytes, owner);
    if (!base) {
      trim_locked(0);
      base = make_block(bytes, owner);
    }
    // Memory is short: the stream may have to wait for whoever uses a block last.
    if (!base && reuse[2]) base = take_idle(bytes, ~uint64_t{0}, owner, stream, true, &after);
  }
  if (!base && wait_for_frees()) {
    std::lock_guard lock(mutex);
    trim_locked(0);
    base = make_block(bytes, owner);
  }
  if (base && after.stream) stream.wait_for(std::move(after));
  return base;
}

bool MemPool::wait_for_frees() {
  std::vector<StreamPoint> pending;
  {
    std::lock_guard lock(mutex);
    for (const auto& [bytes, block] : idle)
      if (!block.freed.reached()) pending.push_back(block.freed);
  }
  for (const StreamPoint& point : pending) point.stream->wait(point.seq, WaitPolicy::block);
  return !pending.empty();
}

bool MemPool::release(uint64_t base, StreamPoint freed) {
  std::lock_guard lock(mutex);
  auto found = live.find(base);
  if (found == live.end()) return false;
  uint64_t bytes = found->second;
  Allocation block;
  if (!memory->find(base, &block)) return false;
  live.erase(found);
  memory->reuse(base, bytes, MemoryKind::idle, block.owner);
  idle.emplace(bytes, Idle{base, block.owner, std::move(freed)});
  count_idle(static_cast<int64_t>(bytes));
  used_bytes -= bytes;
  return true;
}

void MemPool::count_idle(int64_t bytes) {
  idle_bytes.fetch_add(static_cast<uint64_t>(bytes), std::memory_order_relaxed);
  book().idle_bytes.fetch_add(static_cast<uint64_t>(bytes), std::memory_order_relaxed);
}

void MemPool::give_back(uint64_t base, uint64_t bytes) {
  memory->release(base, Allocator::Stray::passes);
  if (charged) charged->uncharge(bytes);
}

void MemPool::trim_locked(uint64_t keep_bytes) {
  for (auto it = idle.begin(); it != idle.end() && reserved_bytes > keep_bytes;) {
    // What is kept is at least `keep_bytes`. source: CUDA Driver API 13.0, cuMemPoolTrimTo.
    if (!it->second.freed.reached() || reserved_bytes - it->first < keep_bytes) {
      ++it;
      continue;
    }
    give_back(it->second.base, it->first);
    count_idle(-static_cast<int64_t>(it->first));
    reserved_bytes -= it->first;
    it = idle.erase(it);
  }
}

void MemPool::trim(uint64_t keep_bytes) {
  std::lock_guard lock(mutex);
  trim_locked(keep_bytes);
}

void MemPool::forget(uint32_t owner) {
  std::lock_guard lock(mutex);
  for (auto it = idle.begin(); it != idle.end();) {
    if (it->second.owner != owner) {
      ++it;
      continue;
    }
    give_back(it->second.base, it->first);
    count_idle(-static_cast<int64_t>(it->first));
    reserved_bytes -= it->first;
    it = idle.erase(it);
  }
  for (auto it = live.begin(); it != live.end();) {
    Allocation block;
    if (memory->find(it->first, &block) && block.owner != owner) {
      ++it;
      continue;
    }
    give_back(it->first, it->second);
    used_bytes -= it->second;
    reserved_bytes -= it->second;
    it = live.erase(it);
  }
  if (charged) memory->drop_freed();
}

CUresult resolve_pool(CUmemoryPool handle, MemPool** pool) {
  *pool = driver().pools.resolve(handle);
  return *pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void list_pool(MemPool* pool) {
  std::unique_lock lock(book().mutex);
  book().pools.push_back(pool);
}

CUresult make_pool(const CUmemPoolProps& props, MemPool** pool) {
  MemPool* made = driver().pools.create(props);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  Device* device = device_of(props);
  Allocator& memory = device ? device->memory() : *driver().host;
  made->memory = &memory;
  if (props.handleTypes) {
    made->charged = &memory;
    if (!make_private_memory(*made)) {
      driver().pools.destroy(made);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  made->access[made->device_ordinal()] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  list_pool(made);
  *pool = made;
  return CUDA_SUCCESS;
}

void end_pool(MemPool* pool) {
  if (!driver().pools.retire(pool)) return;
  {
    std::unique_lock lock(book().mutex);
    std::erase_if(book().current, [&](const auto& entry) { return entry.second == pool; });
  }
  pool->release_threshold = 0;
  if (pool->memory) pool->trim(0);
  pool->ending = true;
  sweep_ended_pools();
}

CUresult default_pool_of(const CUmemLocation& location, CUmemAllocationType type, MemPool** pool) {
  const Place place = place_of(location, type);
  {
    std::shared_lock lock(book().mutex);
    auto found = book().defaults.find(place);
    if (found != book().defaults.end()) {
      *pool = found->second;
      return CUDA_SUCCESS;
    }
  }
  CUmemPoolProps props{};
  props.allocType = type;
  props.location = location;
  MemPool* made;
  if (CUresult result = make_pool(props, &made)) return result;
  made->is_default = true;
  std::unique_lock lock(book().mutex);
  // Another thread may have been faster; its pool counts, ours stays empty.
  *pool = book().defaults.emplace(place, made).first->second;
  return CUDA_SUCCESS;
}

MemPool* current_pool_of(const CUmemLocation& location, CUmemAllocationType type) {
  {
    std::shared_lock lock(book().mutex);
    auto found = book().current.find(place_of(location, type));
    if (found != book().current.end()) return found->second;
  }
  Device* device = driver().device(location.id);
  bool usual =
      type == CU_MEM_ALLOCATION_TYPE_PINNED && location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (usual && device) return device->default_pool();
  MemPool* pool = nullptr;
  return default_pool_of(location, type, &pool) == CUDA_SUCCESS ? pool : nullptr;
}

void set_current_pool(const CUmemLocation& location, CUmemAllocationType type, MemPool* pool) {
  std::unique_lock lock(book().mutex);
  book().current[place_of(location, type)] = pool;
}

MemPool* make_default_pool(Device& device) {
  MemPool* pool = nullptr;
  default_pool_of({CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal()}, CU_MEM_ALLOCATION_TYPE_PINNED,
                  &pool);
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

/// The pool that the block of another process was imported into, or nullptr.
static MemPool* imported_pool_of(uint64_t address) {
  Mapping mapping;
  if (!driver().virtual_space.find(address, &mapping) || mapping.kind != MemoryKind::imported)
    return nullptr;
  std::shared_lock lock(book().mutex);
  for (MemPool* pool : book().pools)
    if (pool == mapping.pool) return pool;
  return nullptr;
}

bool pool_allows(uint64_t address, int device, bool writes) {
  MemPool* pool = pool_of(address);
  if (!pool) pool = imported_pool_of(address);
  if (!pool || pool->device_ordinal() < 0 || pool->device_ordinal() == device) return true;
  std::lock_guard lock(pool->mutex);
  const auto found = pool->access.find(device);
  if (found == pool->access.end()) return false;
  return found->second == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
         (!writes && found->second == CU_MEM_ACCESS_FLAGS_PROT_READ);
}

CUresult free_to_pool_now(uint64_t base) {
  MemPool* pool = pool_of(base);
  if (!pool || !pool->release(base, {})) return CUDA_ERROR_INVALID_VALUE;
  if (pool->ending) {
    pool->trim(0);
    sweep_ended_pools();
  }
  return CUDA_SUCCESS;
}

void trim_pools(Device& device) {
  {
    std::shared_lock lock(book().mutex);
    for (MemPool* pool : book().pools)
      if (belongs_to(*pool, device)) {
        if (pool->idle_bytes.load()) pool->trim(0);
        if (pool->charged) pool->memory->drop_freed();
      }
  }
  for (Device* any : driver().devices) any->memory().drop_freed();
}

void trim_pools_at_sync(Device& device) {
  if (!book().idle_bytes.load(std::memory_order_relaxed)) return;
  bool ended = false;
  {
    std::shared_lock lock(book().mutex);
    for (MemPool* pool : book().pools) {
      if (!belongs_to(*pool, device)) continue;
      const uint64_t keep = pool->release_threshold.load(std::memory_order_relaxed);
      if (pool->idle_bytes.load(std::memory_order_relaxed) &&
          pool->reserved_bytes.load(std::memory_order_relaxed) > keep)
        pool->trim(keep);
      ended |= pool->ending;
    }
  }
  if (ended) sweep_ended_pools();
}

bool age_pools(uint64_t now_ns) {
  std::shared_lock lock(book().mutex);  // a pool is destroyed once it is off the list
  bool left = false;
  for (MemPool* pool : book().pools)
    if (pool->memory && pool->charged) left |= pool->memory->age_freed(now_ns);
  return left;
}

void forget_pool_blocks(uint32_t owner) {
  std::shared_lock lock(book().mutex);
  for (MemPool* pool : book().pools)
    if (pool->memory) pool->forget(owner);
}

}  // namespace limen::cpu
