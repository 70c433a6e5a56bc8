// MemPool: stream-ordered allocation (cuMemAllocAsync). A block freed in a stream may be given out
// again in the same stream at once, elsewhere when the free has been reached. Idle blocks beyond
// the release threshold go back to the device at synchronising calls. Invariant: an idle block is
// not the program's: copies and frees of it are refused. Thread rule: any thread; one lock a pool.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "abi/cuda_abi.h"
#include "drivers/cpu/stream/stream.h"

namespace limen::cpu {

class Device;
struct Context;

struct MemPool {
  explicit MemPool(Device& device, uint64_t most_bytes) : device(device), most_bytes(most_bytes) {}

  Device& device;
  const uint64_t most_bytes;  ///< 0: no limit of its own
  bool is_default = false;

  std::mutex mutex;
  struct Idle {
    uint64_t base;
    uint32_t owner;
    StreamPoint freed;
  };
  std::multimap<uint64_t, Idle> idle;  ///< by bytes
  std::map<uint64_t, uint64_t> live;   ///< base -> bytes reserved
  std::atomic<uint64_t> idle_bytes{0};
  uint64_t used_bytes = 0, used_high = 0, reserved_bytes = 0, reserved_high = 0;
  std::atomic<uint64_t> release_threshold{0};
  int reuse[3] = {1, 1, 1};

  /// 0 when the device is full.
  uint64_t allocate(uint64_t bytes, uint32_t owner, Stream& stream);
  /// `freed`: when the block may be used by others. False: not a live block of this pool.
  bool release(uint64_t base, StreamPoint freed);
  /// Gives idle blocks back until at most `keep_bytes` stay; those not reached yet stay.
  void trim(uint64_t keep_bytes);
  /// Forgets the blocks of a context that has ended.
  void forget(uint32_t owner);
};

MemPool* make_default_pool(Device& device);
inline CUmemoryPool handle_of(MemPool* pool) { return reinterpret_cast<CUmemoryPool>(pool); }

/// Pool of a live pooled block, or nullptr.
MemPool* pool_of(uint64_t address);
/// Frees a pooled block whose users are all done (cuMemFree).
CUresult free_to_pool_now(uint64_t base);
/// Gives back all idle memory of the device's pools: memory is short.
void trim_pools(Device& device);
/// What a synchronising call does: trims each pool to its release threshold.
void trim_pools_at_sync(Device& device);
void forget_pool_blocks(uint32_t owner);

}  // namespace limen::cpu
