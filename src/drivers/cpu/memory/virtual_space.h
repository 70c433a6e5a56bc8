// VirtualSpace: the partition of addresses that holds no memory of its own: reservations of
// cuMemAddressReserve, and what is mapped there: allocations of cuMemCreate, memory of other
// processes, external memory, pools that may be exported. Invariant: a page is accessible exactly
// as its mapping's access says; what is reserved but not mapped faults. Devices share the CPU's one
// page table: a page can be read (written) by all as soon as one device or the host may.
// Thread rule: any thread; one lock, shared for look-ups. docs: design/memory_sharing.md
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "abi/cuda_abi.h"
#include "drivers/cpu/memory/allocator.h"
#include "drivers/cpu/memory/shared_file.h"

namespace limen::cpu {

/// Who may do what: bit i is device i, the last bit the host.
struct Access {
  static constexpr uint64_t host_bit = uint64_t{1} << 63;
  uint64_t readable = 0, writable = 0;
  int protection() const;
};

struct MemPool;
struct PhysicalMemory;

struct Mapping {
  uint64_t base = 0, bytes = 0;  ///< the block that the program sees
  uint64_t lead = 0;             ///< mapped bytes before it: blocks need not start at a page
  uint64_t id = 0;               ///< for CU_POINTER_ATTRIBUTE_BUFFER_ID
  MemoryKind kind = MemoryKind::mapped;
  int device = -1;     ///< ordinal; -1: host memory
  uint32_t owner = 0;  ///< context id; 0: of no context
  Access access;
  std::shared_ptr<SharedFile> file;
  uint64_t offset = 0;                 ///< in the file, of the first page
  PhysicalMemory* physical = nullptr;  ///< of cuMemMap
  const MemPool* pool = nullptr;       ///< that the block was imported into; may be gone
  unsigned handle_types = 0;

  uint64_t first_page() const { return base - lead; }
  uint64_t page_span() const { return (lead + bytes + 4095) / 4096 * 4096; }
};

class VirtualSpace {
 public:
  void bind(uint64_t base, uint64_t bytes) { base_ = base, bytes_ = bytes; }

  /// First address of a new reservation, near `hint` when that is free; 0 when there is no room.
  uint64_t reserve(uint64_t bytes, uint64_t alignment, uint64_t hint);
  /// False when no reservation is exactly this one, or something is mapped in it.
  bool unreserve(uint64_t base, uint64_t bytes);

  /// Maps `mapping.file` at mapping.base, which must be reserved whole and not mapped.
  CUresult map(Mapping mapping);
  /// The whole mappings that make up the range exactly; empty when they do not.
  std::vector<Mapping> mappings_of(uint64_t base, uint64_t bytes) const;
  /// Takes them out of use: later accesses fault. False when they do not make up the range.
  bool unmap(uint64_t base, uint64_t bytes, std::vector<Mapping>* gone);
  /// The same for cuMemUnmap: holes do not matter, nor where the reservation of `base` ends
  /// (measured H200, driver 580.159.04). False where can_unmap is.
  bool unmap_all(uint64_t base, uint64_t bytes, std::vector<Mapping>* gone);
  /// False where nothing is reserved, a mapping would be cut in two or is not cuMemMap's.
  bool can_unmap(uint64_t base, uint64_t bytes) const;
  CUresult set_access(uint64_t base, uint64_t bytes, uint64_t bits, bool readable, bool writable);

  bool find(uint64_t address, Mapping* out) const;
  /// Gives all mappings of an allocation its new file, which holds the same bytes.
  void move_to(const PhysicalMemory* physical, const std::shared_ptr<SharedFile>& file,
               uint64_t old_offset);
  /// While `locked`, nobody can write to the allocation through its mappings.
  void write_protect(const PhysicalMemory* physical);
  /// Whether somebody may read, or write, all of the range; it may span mappings.
  bool accessible(uint64_t address, uint64_t bytes, bool write) const;
  /// Makes a reservation and maps a file part there; returns the block. 0 when that fails.
  uint64_t place(Mapping mapping);
  /// Undoes place(). False when `base` is not such a place of this kind.
  bool displace(uint64_t base, MemoryKind kind);
  /// The bases of an ending context's mappings.
  std::vector<Mapping> owned_by(uint32_t owner) const;

  /// Allocators whose partition lies in here (pools that may be exported).
  void add_allocator(uint64_t base, Allocator* memory);
  void remove_allocator(uint64_t base);
  Allocator* allocator_of(uint64_t address) const;

 private:
  bool is_free(uint64_t base, uint64_t bytes) const;
  const Mapping* at(uint64_t address) const;
  bool covered(uint64_t base, uint64_t bytes) const;
  bool cuts_none(uint64_t base, uint64_t bytes) const;
  void take_out(uint64_t base, uint64_t bytes, std::vector<Mapping>* gone);

  uint64_t base_ = 0, bytes_ = 0;
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, uint64_t> reserved_;  ///< base -> bytes
  std::map<uint64_t, Mapping> mapped_;
  std::map<uint64_t, Allocator*> allocators_;
  uint64_t next_ = 0;  ///< where the search goes on, so that stale addresses keep faulting
};

/// A number for a new block that is in no allocator.
uint64_t next_block_id();

}  // namespace limen::cpu
