// What a pointer points to: device, managed, pinned, registered or plain host memory.
// Invariant: a range is accepted only when all of it lies in one live block.
// Thread rule: any thread; takes the allocator's or the registry's lock briefly.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

#include "abi/cuda_abi.h"
#include "drivers/cpu/memory/allocator.h"

namespace limen::cpu {

enum class Memory : uint8_t { pageable, registered, host, managed, device };

struct PointerInfo {
  Memory memory = Memory::pageable;
  Allocation block;         ///< all but pageable; registered: the registered range
  int device = -1;          ///< ordinal, for device and managed memory
  bool is_virtual = false;  ///< in the virtual partition: access and extent are a mapping's
  bool readable = true, writable = true;
  unsigned handle_types = 0;  ///< of virtual memory
};

/// Host ranges given to cuMemHostRegister.
class HostRegistry {
 public:
  struct Range {
    uint64_t base = 0, bytes = 0, id = 0;
    unsigned flags = 0;
    uint32_t owner = 0;
  };
  /// errors: CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED when it overlaps another range.
  CUresult add(Range range);
  bool remove(uint64_t base);
  std::optional<Range> find(uint64_t address) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, Range> ranges_;
};
HostRegistry& host_registry();

/// Looks the pointer up. False: inside our address range but in no live block.
bool classify(uint64_t address, PointerInfo* info);

enum class Use : uint8_t { read, write };

/// Checks a copy's operand of `bytes` bytes. `device_operand`: must not be plain host memory.
/// errors: CUDA_ERROR_INVALID_VALUE.
CUresult check_range(uint64_t address, uint64_t bytes, bool device_operand, Use use,
                     PointerInfo* info);

/// Drops what cuPointerSetAttribute remembered of a block that is freed.
void forget_sync(uint64_t block_id);
/// Whether the process has all pages of a range of plain host memory.
bool is_mapped(uint64_t address, uint64_t bytes);

/// Drops what cuMemAdvise remembered of a managed block that is freed.
void forget_advice(uint64_t block_id);

}  // namespace limen::cpu
