// PhysicalMemory: what a CUmemGenericAllocationHandle names: memory without an address. It lives
// while a handle or a mapping of it does. Invariant: `handles` and `mappings` change under the
// book's lock only; a handle with no references left is refused although its memory may live on.
// Thread rule: any thread. docs: design/memory_sharing.md
#pragma once
#include <cstdint>
#include <memory>

#include "abi/cuda_abi.h"
#include "drivers/cpu/memory/shared_file.h"

namespace limen::cpu {

class Allocator;

struct PhysicalMemory {
  CUmemAllocationProp prop{};
  uint64_t bytes = 0;
  std::shared_ptr<SharedFile> file;
  uint64_t offset = 0;                 ///< in the file
  bool in_parts = false;               ///< of the file that all allocations nobody exported share
  Allocator* charged = nullptr;        ///< whose memory it counts as; null: imported
  uint32_t handles = 1, mappings = 0;  ///< pieces of sparse arrays are mappings, too
  uint64_t view = 0;                   ///< where sparse arrays have all of it mapped; 0: none has
};

constexpr uint64_t allocation_granularity_bytes = chunk_bytes;

/// How a process that gets a descriptor of ours knows what it is: the last page of the file.
struct ShareRecord {
  static constexpr uint64_t page_bytes = 4096;
  enum class Kind : uint32_t { allocation = 1, pool = 2 };
  char magic[8] = {'L', 'i', 'm', 'e', 'n', 'S', 'h', 'r'};
  uint32_t version = 1;
  Kind kind = Kind::allocation;
  uint64_t bytes = 0;  ///< before the record's page
  CUmemAllocationProp prop{};

  bool write_to(const SharedFile& file) const { return file.write(bytes, this, sizeof *this); }
  /// The file behind a foreign descriptor, if it is one of ours of this kind. Takes a duplicate.
  static std::shared_ptr<SharedFile> read_from(int descriptor, Kind kind, ShareRecord* out);
};

/// Whether locations and handle types are ones that allocations and pools can have.
CUresult check_location_of_memory(const CUmemLocation& location, unsigned handle_types);

}  // namespace limen::cpu
