// AddressSpace: the one reserved range of addresses that all memory of the CPU driver lives in.
// Nothing in it is accessible until committed. It knows nothing of allocations, contexts or
// devices; partitions (one a device, one for pinned host memory) hand out parts of it. Invariant: a
// page is readable exactly while it is committed, so stray accesses fault. Thread rule: immutable
// after reserve(); commit and release may be called from any thread.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace limen::cpu {

inline constexpr uint64_t chunk_bytes = uint64_t{2} << 20;  ///< bookkeeping unit, a huge page

class AddressSpace {
 public:
  /// Reserves `partitions` ranges of up to `bytes_each` (halved until the system grants it).
  /// errors: operating_system when not even the least useful range can be reserved.
  Result<void> reserve(uint32_t partitions, uint64_t bytes_each);

  bool contains(uint64_t address) const { return address - base_ < total_; }
  /// Partition of an address that contains() accepts.
  uint32_t partition_of(uint64_t address) const {
    return static_cast<uint32_t>((address - base_) / each_);
  }
  uint64_t partition_base(uint32_t index) const { return base_ + index * each_; }
  uint64_t partition_bytes() const { return each_; }

  /// Makes whole pages readable and writable; false when the system refuses.
  static bool commit(uint64_t address, uint64_t bytes, bool huge);
  /// Gives the pages back to the system; later accesses fault.
  static void release(uint64_t address, uint64_t bytes);

 private:
  uint64_t base_ = 0, total_ = 0, each_ = 1;
};

}  // namespace limen::cpu
