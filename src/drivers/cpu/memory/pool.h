// MemPool: stream-ordered allocation (cuMemAllocAsync). A block freed in a stream may be given out
// again in the same stream at once, elsewhere when the free has been reached or the stream is made
// to wait for it. Idle blocks beyond the release threshold go back at synchronising calls.
// Pools that may be exported have an allocator of their own in one shared file. Invariant: an idle
// block is not the program's: copies and frees of it are refused.
// Thread rule: any thread; one lock a pool, the book's lock before it.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "abi/cuda_abi.h"
#include "drivers/cpu/memory/allocator.h"
#include "drivers/cpu/memory/shared_file.h"
#include "drivers/cpu/stream/stream.h"

namespace limen::cpu {

class Device;
struct Context;

/// Flag of pooled blocks whose memory is managed.
inline constexpr uint8_t pool_block_managed = 1;

struct MemPool {
  explicit MemPool(const CUmemPoolProps& props) : props(props), most_bytes(props.maxSize) {}
  ~MemPool();

  const CUmemPoolProps props;
  const uint64_t most_bytes;  ///< 0: no limit of its own
  bool is_default = false;
  std::atomic<bool> exported{false};  ///< blocks can be from then on
  bool imported = false;              ///< another process's: nothing can be allocated
  std::atomic<bool> ending{false};    ///< destroyed while blocks were out; goes with the last

  Allocator* memory = nullptr;       ///< where blocks come from; null: imported
  Allocator* charged = nullptr;      ///< whose memory blocks count as, where `memory` is the pool's
  std::shared_ptr<SharedFile> file;  ///< of an exportable or imported pool
  uint64_t range = 0;                ///< an exportable pool's reservation

  std::mutex mutex;
  struct Idle {
    uint64_t base;
    uint32_t owner;
    StreamPoint freed;
  };
  std::multimap<uint64_t, Idle> idle;                      ///< by bytes
  std::map<uint64_t, uint64_t> live;                       ///< base -> bytes reserved
  std::atomic<uint64_t> idle_bytes{0}, reserved_bytes{0};  ///< change under the lock
  uint64_t used_bytes = 0, used_high = 0, reserved_high = 0;
  std::atomic<uint64_t> release_threshold{0};
  int reuse[3] = {1, 1, 1};
  std::map<int, CUmemAccess_flags> access;  ///< by ordinal, -1: host; see pool_allows

  int device_ordinal() const {
    return props.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? props.location.id : -1;
  }
  bool managed() const { return props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED; }
  /// 0 when the device or the pool is full.
  uint64_t allocate(uint64_t bytes, uint32_t owner, Stream& stream);
  /// `freed`: when the block may be used by others. False: not a live block of this pool.
  bool release(uint64_t base, StreamPoint freed);
  /// Gives idle blocks back until at most `keep_bytes` stay; those not reached yet stay.
  void trim(uint64_t keep_bytes);
  /// Forgets the blocks of a context that has ended.
  void forget(uint32_t owner);

 private:
  uint64_t take_idle(uint64_t bytes, uint64_t most, uint32_t owner, Stream& stream, bool any,
                     StreamPoint* after);
  uint64_t make_block(uint64_t bytes, uint32_t owner);
  /// Blocks until every free that was queued is reached; false when none was pending.
  bool wait_for_frees();
  void trim_locked(uint64_t keep_bytes);
  void count_idle(int64_t bytes);
  void give_back(uint64_t base, uint64_t bytes);
};

/// The default pool of a place, made at first use. errors: see cuMemGetDefaultMemPool.
CUresult default_pool_of(const CUmemLocation& location, CUmemAllocationType type, MemPool** pool);
/// Makes a pool and lists it. errors: CUDA_ERROR_OUT_OF_MEMORY.
CUresult make_pool(const CUmemPoolProps& props, MemPool** pool);
/// Lists a pool that was made elsewhere (an imported one).
void list_pool(MemPool* pool);
/// Takes the handle out of use; the pool itself goes when its last block does.
void end_pool(MemPool* pool);
MemPool* current_pool_of(const CUmemLocation& location, CUmemAllocationType type);
void set_current_pool(const CUmemLocation& location, CUmemAllocationType type, MemPool* pool);

MemPool* make_default_pool(Device& device);
inline CUmemoryPool handle_of(MemPool* pool) { return reinterpret_cast<CUmemoryPool>(pool); }
/// The pool of a handle. errors: CUDA_ERROR_INVALID_VALUE.
CUresult resolve_pool(CUmemoryPool handle, MemPool** pool);

/// Pool of a live pooled block, or nullptr.
MemPool* pool_of(uint64_t address);
/// Whether work of a device may touch the memory: another device's pool must allow it (an imported
/// one for itself). Asked by plain copies between addresses; kernels are not held back.
bool pool_allows(uint64_t address, int device, bool writes);
/// Frees a pooled block whose users are all done (cuMemFree).
CUresult free_to_pool_now(uint64_t base);
/// Gives back all idle memory of the device's pools: memory is short.
void trim_pools(Device& device);
/// What every synchronising call does, on context, stream or event: trims each pool to its release
/// threshold. Where nothing is idle, one load.
/// source: CUDA Driver API 13.0, cuMemPoolSetAttribute, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD.
void trim_pools_at_sync(Device& device);
void forget_pool_blocks(uint32_t owner);
/// What age_freed() is to a device's memory, for that of pools that may be exported. False: nothing
/// is left.
bool age_pools(uint64_t now_ns);

}  // namespace limen::cpu
