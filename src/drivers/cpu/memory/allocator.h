// Allocator: hands out memory of one partition of the address space and knows every live block.
// Blocks up to 32 KiB come from slabs (no system call); larger ones have their own pages, followed
// by at least 64 KiB that cannot be touched, so an overrun faults. Slab blocks end in a canary that
// is checked when the block is freed. Invariant: used_bytes() is the sum over live blocks and never
// exceeds the limit. Thread rule: any thread; one short lock. docs: design/memory.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/cpu/memory/address_space.h"

namespace limen::cpu {

struct SuspendedMemory;

enum class MemoryKind : uint8_t {
  none = 0,
  device,    ///< cuMemAlloc
  managed,   ///< cuMemAllocManaged, __managed__ variables
  pool,      ///< cuMemAllocAsync
  idle,      ///< freed into a pool: mapped, but not the program's
  module,    ///< globals and constants of a loaded module
  heap,      ///< the region of the kernels' malloc
  host,      ///< cuMemHostAlloc
  array,     ///< texels of a CUDA array
  mapped,    ///< cuMemMap, in the virtual partition like the rest
  ipc,       ///< cuIpcOpenMemHandle
  external,  ///< cuExternalMemoryGetMappedBuffer
  imported,  ///< cuMemPoolImportPointer
  graph,     ///< of an allocation node of a graph
};

class SharedFile;

/// Where the bytes of a block lie that others may map: `lead` bytes into whole pages of a file.
struct SharedBlock {
  std::shared_ptr<SharedFile> file;
  uint64_t offset = 0;  ///< of the first page
  uint64_t lead = 0;    ///< from there to the block
};

/// A clock of some milliseconds' resolution that costs next to nothing.
uint64_t coarse_clock_ns();

/// One live block, as find() reports it.
struct Allocation {
  uint64_t base = 0;
  uint64_t bytes = 0;  ///< as asked for
  uint64_t id = 0;     ///< unique for the life of the process
  uint32_t owner = 0;  ///< context id
  MemoryKind kind = MemoryKind::none;
  uint8_t flags = 0;  ///< meaning depends on the kind
};

class Allocator {
 public:
  struct Options {
    uint64_t base = 0, range_bytes = 0;  ///< the partition, whole chunks
    uint64_t limit_bytes = 0;            ///< most that may be live at once
    const char* what = "device";         ///< for messages
    /// Bytes the system could still give, asked now and then; may be empty.
    std::function<uint64_t()> available_bytes;
    /// Called, outside all locks, when freed pages begin to wait for age_freed(). Empty: nobody
    /// will call that, and freed pages go back to the system at once.
    std::function<void()> freed_waits = {};
    /// All memory is this file's (as large as the partition); null: memory is private.
    std::shared_ptr<SharedFile> file = nullptr;
  };

  /// What an access to freed memory does in kernels that start later, until somebody else has it.
  enum class Stray : uint8_t {
    faults,  ///< as on a GPU that unmapped it
    passes,  ///< for a while, as in memory that a pool holds
  };

  explicit Allocator(Options options);
  ~Allocator();  ///< for tests: the driver's own allocators are never destroyed
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  /// Address of a new block, 512-byte aligned; 0 when it does not fit.
  uint64_t allocate(uint64_t bytes, MemoryKind kind, uint32_t owner, uint8_t flags = 0);
  /// Frees the block that starts at `base`; false when there is none.
  bool release(uint64_t base, Stray stray = Stray::faults);
  /// The live block that holds `address`.
  bool find(uint64_t address, Allocation* out) const;
  /// Gives a live block another size, kind and owner in place; false when it does not hold `bytes`.
  bool reuse(uint64_t base, uint64_t bytes, MemoryKind kind, uint32_t owner);
  /// Moves the live block into a file that other processes can map, if it is in none yet. Small
  /// blocks take their neighbours along. False: no such block, or no descriptor is left.
  bool share(uint64_t base, SharedBlock* out);
  /// Whether the system has room for a copy of so many bytes.
  bool can_copy(uint64_t bytes) const {
    return !options_.available_bytes || bytes <= options_.available_bytes();
  }
  /// Counts memory that lies elsewhere (cuMemCreate); false when it would exceed the limit.
  bool charge(uint64_t bytes);
  void uncharge(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  /// Frees every block of a context that is being destroyed.
  void release_owner(uint32_t owner);
  /// The context's live blocks of a kind (none: all), for the leak report and pool trimming.
  std::vector<Allocation> list(uint32_t owner, MemoryKind kind) const;

  /// Takes the contents of all private pages and gives the pages back to the system; nothing may
  /// use the memory before resume(). False: the host has no room for them, and nothing was done.
  bool suspend(SuspendedMemory* out);
  /// Brings them back. False: the system refuses the pages.
  bool resume(SuspendedMemory& memory);

  /// Whether seal_freed() has something to do. One load.
  bool has_unsealed() const { return unsealed_.load(std::memory_order_relaxed) != 0; }
  /// Before kernels start: what was freed since the last time faults from now on.
  void seal_freed();
  /// Lets freed pages go that nobody wanted for a while. False: none are left.
  bool age_freed(uint64_t now_ns);
  /// Gives all freed pages back to the system: memory is short.
  void drop_freed();
  /// Bytes of freed blocks whose pages are kept; not in used_bytes().
  uint64_t freed_bytes() const { return freed_bytes_.load(std::memory_order_relaxed); }

  uint64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }
  uint64_t limit_bytes() const { return options_.limit_bytes; }

 private:
  static constexpr uint64_t page_bytes = 4096;
  static constexpr uint64_t unit_bytes = 512;  ///< alignment and size step
  static constexpr uint64_t slab_limit = 32 << 10;
  static constexpr uint64_t crowded_slab_limit = 1 << 20;
  /// Own pages cost two mappings each and Linux allows a process 65530: beyond this many, blocks up
  /// to crowded_slab_limit share slabs.
  static constexpr uint32_t crowded_regions = 20000;
  static constexpr uint64_t guard_bytes = 64 << 10;
  static constexpr uint64_t canary_bytes = 16;
  static constexpr uint32_t class_count = 48;

  struct Block {
    uint64_t bytes = 0;  ///< 0: free
    /// The most bytes that this block was ever used with: work queued for an earlier use may still
    /// write up to here, so the canary stands behind it.
    uint64_t extent = 0;
    uint64_t id = 0;
    uint32_t owner = 0;
    MemoryKind kind = MemoryKind::none;
    uint8_t flags = 0;
  };
  /// A region's pages: a block's; freed and accessible (to be sealed, or not); freed and sealed;
  /// sealed and the system may take them when it needs them.
  enum class Pages : uint8_t { live, open, to_seal, sealed, lazy };
  struct Region {
    uint64_t base = 0;
    uint32_t chunks = 0;
    uint32_t slot_bytes = 0;  ///< 0: one block with pages of its own
    uint32_t size_class = 0;
    uint32_t live = 0;
    uint64_t committed = 0;
    Pages pages = Pages::live;
    uint64_t freed_ns = 0;
    std::shared_ptr<SharedFile> file;  ///< holds the pages, from offset 0; null: private memory
    std::vector<Block> blocks;
    std::vector<uint32_t> free;
    /// Slabs of one class with room; or freed pages, by age.
    Region *next = nullptr, *prev = nullptr;
    bool listed = false;
  };

  static uint32_t size_class_of(uint64_t bytes, uint64_t* slot_bytes);
  bool commit(const Region* region, uint64_t bytes, bool huge) const;
  static bool move_to_file(Region* region);
  bool system_has(uint64_t bytes);
  bool ask_system(uint64_t bytes, uint64_t now_ns);
  uint64_t allocate_slot(uint64_t bytes, Block block);
  uint64_t allocate_pages(uint64_t bytes, Block block);
  Region* new_slab(uint32_t size_class, uint64_t slot_bytes);
  Region* take_chunks(uint32_t chunks, bool fresh_address);
  Region* cut_chunks(std::map<uint64_t, uint64_t>::iterator run, uint64_t first, uint32_t chunks);
  void return_chunks(Region* region);
  void list_slab(Region* region);
  void unlist_slab(Region* region);
  uint64_t place_block(Region* region, uint64_t committed, const Block& block);
  /// True when freed pages wait for age_freed() as of now.
  bool release_slot(Region* region, uint32_t slot, bool keep, Stray stray);
  bool keep_freed(Region* region, Stray stray);
  void unlist_freed(Region* region);
  void drop_oldest_freed();
  Region* take_freed(uint64_t committed, bool also_lazy);
  uint64_t free_run_at(uint64_t chunk) const;
  Region* region_at(uint64_t address) const;
  bool locate(uint64_t address, Region** region, uint32_t* slot) const;
  void write_canary(uint64_t base, uint64_t bytes);
  void check_canary(uint64_t base, const Block& block) const;

  Options options_;
  mutable std::mutex mutex_;
  std::atomic<uint64_t> used_{0};
  /// What the system was found to have, when (0: never), and the use up to which that holds: for
  /// small blocks, and for large ones while the answer is fresh.
  std::atomic<uint64_t> asked_ns_{0}, asked_up_to_{0}, margin_up_to_{0};
  std::atomic<uint64_t> most_freed_;  ///< bound of freed_bytes_
  std::atomic<uint64_t> freed_bytes_{0};
  std::atomic<uint32_t> unsealed_{0};             ///< regions to_seal
  std::multimap<uint64_t, Region*> freed_;        ///< by committed bytes
  Region *oldest_ = nullptr, *newest_ = nullptr;  ///< of freed_
  uint64_t next_id_ = 1;
  uint32_t page_regions_ = 0;
  std::atomic<Region*>* table_ = nullptr;  ///< region by chunk, never null entries inside a region
  std::map<uint64_t, uint64_t> free_chunks_;  ///< first chunk -> count
  Region* with_room_[class_count] = {};
  uint64_t next_chunk_ = 0;  ///< where the search for large blocks goes on
};

}  // namespace limen::cpu
