// Stream memory operations: a stream waits for a value in memory, or writes one, in its order.
// A wait that is not satisfied costs no thread: it stands on a watch list that one thread looks
// through, ever more seldom while nothing changes, because the value may come from a kernel, from
// host code or from another process. Does not capture into graphs.
// Invariant: the list's addresses were checked when the operation was queued, and are read so that
// memory unmapped since is an error of the context, never a crash. Thread rule: any thread.
#pragma once
#include <cstdint>
#include <vector>

#include "abi/cuda_abi.h"
#include "drivers/cpu/stream/stream.h"

namespace limen::cpu {

/// One checked operation.
struct Memop {
  enum class Kind : uint8_t { wait, write, barrier };
  Kind kind = Kind::barrier;
  bool wide = false;       ///< 64 bits, else 32
  unsigned condition = 0;  ///< of a wait: a CUstreamWaitValue_flags without the flush
  uint64_t address = 0;
  uint64_t value = 0;
};

/// Checks a batch as cuStreamBatchMemOp does. errors: 1, 801 for a flush of remote writes.
CUresult read_memops(unsigned count, const CUstreamBatchMemOpParams* params, unsigned flags,
                     std::vector<Memop>* out);

/// Queues checked operations as one operation of the stream; other streams go on meanwhile.
/// Returns its sequence number.
uint64_t queue_memops(Stream& stream, std::vector<Memop> operations);

namespace detail {
extern std::atomic<uint32_t> watched;
void look_again();
}  // namespace detail

/// Memory may have changed: the watch list is looked through at once. One load while it is empty.
inline void memory_may_have_changed() {
  if (detail::watched.load(std::memory_order_relaxed)) detail::look_again();
}

}  // namespace limen::cpu
