// Slabs for small blocks, own pages with a guard for large ones, one table from chunk to region.
// Does not know what the memory is used for. Invariant: a chunk's table entry is set exactly while
// its region exists. Thread rule: everything behind mutex_, apart from used_.
#include "drivers/cpu/memory/allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/log.h"
#include "drivers/cpu/memory/shared_file.h"
#include "engine/fault.h"

namespace limen::cpu {

namespace {
constexpr unsigned char canary_byte = 0xd7;
constexpr uint64_t asked_step_bytes = uint64_t{64} << 20;

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }
}  // namespace

Allocator::Allocator(Options options)
    : options_(std::move(options)), most_freed_(options_.limit_bytes / 4) {
  uint64_t chunks = options_.range_bytes / chunk_bytes;
  void* table = mmap(nullptr, chunks * sizeof(table_[0]), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  // Zero pages are null entries: the table costs memory only where it is used.
  if (table != MAP_FAILED) {
    table_ = static_cast<std::atomic<Region*>*>(table);
    free_chunks_.emplace(0, chunks);
    next_chunk_ = chunks / 64;  // leaves the beginning to slabs
  }
}

Allocator::~Allocator() {
  if (!table_) return;
  uint64_t chunks = options_.range_bytes / chunk_bytes;
  for (uint64_t chunk = 0; chunk < chunks;) {
    if (uint64_t gap = free_run_at(chunk)) {
      chunk += gap;
      continue;
    }
    Region* region = table_[chunk].load();
    chunk += region->chunks;
    return_chunks(region);
  }
  munmap(table_, chunks * sizeof(table_[0]));
}

uint32_t Allocator::size_class_of(uint64_t bytes, uint64_t* slot_bytes) {
  // 512-byte steps up to 4 KiB, then four steps to each power of two.
  uint64_t units = (bytes + unit_bytes - 1) / unit_bytes;
  if (units <= 8) {
    *slot_bytes = units * unit_bytes;
    return static_cast<uint32_t>(units - 1);
  }
  uint32_t width = std::bit_width(units - 1);
  uint32_t shift = width - 3;
  uint64_t quarter = (units - 1) >> shift;
  *slot_bytes = ((quarter + 1) << shift) * unit_bytes;
  return static_cast<uint32_t>(8 + (width - 4) * 4 + (quarter - 4));
}

/// Programs rely on the zeros of new pages here, as systems and NVIDIA's driver give them.
static bool wants_new_pages(MemoryKind kind, uint8_t flags) {
  return kind == MemoryKind::managed || kind == MemoryKind::host ||
         (kind == MemoryKind::pool && flags != 0);
}

uint64_t Allocator::allocate(uint64_t bytes, MemoryKind kind, uint32_t owner, uint8_t flags) {
  if (!table_ || bytes == 0 || bytes > options_.limit_bytes) return 0;
  const bool old_pages = !wants_new_pages(kind, flags);
  const uint64_t committed = round_up(bytes, page_bytes);
  Block block{bytes, bytes, 0, owner, kind, flags};
  if (old_pages && bytes > slab_limit && freed_bytes_.load(std::memory_order_relaxed)) {
    // The system gave these pages already: it need not be asked.
    std::lock_guard lock(mutex_);
    if (used_ + committed <= options_.limit_bytes)
      if (Region* region = take_freed(committed, false))
        return place_block(region, committed, block);
  }
  if (!system_has(bytes)) return 0;
  std::lock_guard lock(mutex_);
  const bool slab =
      bytes + canary_bytes <= (page_regions_ < crowded_regions ? slab_limit : crowded_slab_limit);
  if (!slab && old_pages && used_ + committed <= options_.limit_bytes)
    if (Region* region = take_freed(committed, true)) return place_block(region, committed, block);
  return slab ? allocate_slot(bytes, block) : allocate_pages(bytes, block);
}

/// Memory is taken from the system when it is first touched, where a shortage would be the
/// process's death. So it is asked before: each time that the use has grown, and for large blocks
/// unless the last answer is fresh and left plenty. Asking costs some 50 us.
bool Allocator::system_has(uint64_t bytes) {
  if (!options_.available_bytes) return true;
  const uint64_t use = used_.load(std::memory_order_relaxed) + bytes;
  if (bytes < asked_step_bytes && use <= asked_up_to_.load(std::memory_order_relaxed)) return true;
  constexpr uint64_t fresh_ns = 100'000'000;
  const uint64_t now = coarse_clock_ns();
  if (use <= margin_up_to_.load(std::memory_order_relaxed) &&
      now - asked_ns_.load(std::memory_order_relaxed) < fresh_ns)
    return true;
  if (ask_system(bytes, now)) return true;
  if (!freed_bytes()) return false;
  drop_freed();
  return ask_system(bytes, now);
}

bool Allocator::ask_system(uint64_t bytes, uint64_t now_ns) {
  const uint64_t use = used_.load(std::memory_order_relaxed);
  const uint64_t available = options_.available_bytes();
  // Other allocators and other processes take from the same memory meanwhile.
  constexpr uint64_t share = 8;
  most_freed_.store(std::min(options_.limit_bytes / 4, available / share),
                    std::memory_order_relaxed);
  if (bytes > available) return false;
  asked_up_to_.store(use + bytes + std::min(asked_step_bytes, available - bytes),
                     std::memory_order_relaxed);
  margin_up_to_.store(use + available / share, std::memory_order_relaxed);
  asked_ns_.store(now_ns, std::memory_order_relaxed);
  return true;
}

bool Allocator::charge(uint64_t bytes) {
  if (bytes > options_.limit_bytes || !system_has(bytes)) return false;
  std::lock_guard lock(mutex_);
  if (used_ + bytes > options_.limit_bytes) return false;
  used_.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

bool Allocator::commit(const Region* region, uint64_t bytes, bool huge) const {
  if (!options_.file) return AddressSpace::commit(region->base, bytes, huge);
  return options_.file->map(region->base, bytes, region->base - options_.base,
                            PROT_READ | PROT_WRITE);
}

/// Replaces private pages by those of a file. Kernels may be running: writers wait in the fault
/// handler until the copy is in place.
bool Allocator::move_to_file(Region* region) {
  auto file = SharedFile::create("limen-ipc", region->committed);
  if (!file) return false;
  engine::PageMove move;
  void* pages = reinterpret_cast<void*>(region->base);
  if (mprotect(pages, region->committed, PROT_READ) != 0) return false;
  constexpr uint64_t piece_bytes = uint64_t{1} << 16;
  static const unsigned char zeros[piece_bytes] = {};
  bool copied = true;
  for (uint64_t at = 0; copied && at < region->committed; at += piece_bytes) {
    const uint64_t bytes = std::min(piece_bytes, region->committed - at);
    const void* from = reinterpret_cast<const void*>(region->base + at);
    // What was never written to stays a hole.
    if (std::memcmp(from, zeros, bytes) != 0) copied = file->write(at, from, bytes);
  }
  copied = copied && file->map(region->base, region->committed, 0, PROT_READ | PROT_WRITE);
  if (!copied) {
    mprotect(pages, region->committed, PROT_READ | PROT_WRITE);
    return false;
  }
  region->file = std::move(file);
  return true;
}

bool Allocator::share(uint64_t base, SharedBlock* out) {
  std::lock_guard lock(mutex_);
  Region* region = nullptr;
  uint32_t slot = 0;
  if (!locate(base, &region, &slot)) return false;
  uint64_t start = options_.base;
  std::shared_ptr<SharedFile> file = options_.file;
  if (!file) {
    // Old and new pages exist both while it moves.
    if (!region->file && (!can_copy(region->committed) || !move_to_file(region))) return false;
    file = region->file;
    start = region->base;
  }
  const uint64_t at = base - start;
  *out = {std::move(file), at / page_bytes * page_bytes, at % page_bytes};
  return true;
}

uint64_t Allocator::allocate_slot(uint64_t bytes, Block block) {
  uint64_t slot_bytes = 0;
  uint32_t size_class = size_class_of(bytes + canary_bytes, &slot_bytes);
  if (used_ + slot_bytes > options_.limit_bytes) return 0;
  Region* region = with_room_[size_class];
  if (!region) region = new_slab(size_class, slot_bytes);
  if (!region) return 0;
  uint32_t slot = region->free.back();
  region->free.pop_back();
  if (region->free.empty()) unlist_slab(region);
  region->blocks[slot] = block;
  region->blocks[slot].id = next_id_++;
  ++region->live;
  used_.fetch_add(slot_bytes, std::memory_order_relaxed);
  uint64_t base = region->base + slot * slot_bytes;
  write_canary(base, bytes);
  return base;
}

uint64_t Allocator::allocate_pages(uint64_t bytes, Block block) {
  uint64_t committed = round_up(bytes, page_bytes);
  if (committed < bytes || used_ + committed > options_.limit_bytes) return 0;
  const auto chunks =
      static_cast<uint32_t>((committed + guard_bytes + chunk_bytes - 1) / chunk_bytes);
  Region* region = take_chunks(chunks, true);
  while (!region && oldest_) {
    drop_oldest_freed();  // of whose addresses some may be needed
    region = take_chunks(chunks, true);
  }
  if (!region) return 0;
  if (!commit(region, committed, bytes >= chunk_bytes)) {
    return_chunks(region);
    return 0;
  }
  region->committed = committed;
  ++page_regions_;
  return place_block(region, committed, block);
}

/// Makes pages a block's.
uint64_t Allocator::place_block(Region* region, uint64_t committed, const Block& block) {
  region->blocks.assign(1, block);
  region->blocks[0].id = next_id_++;
  region->live = 1;
  used_.fetch_add(committed, std::memory_order_relaxed);
  return region->base;
}

Allocator::Region* Allocator::new_slab(uint32_t size_class, uint64_t slot_bytes) {
  Region* region = take_chunks(1, false);
  if (!region) return nullptr;
  // The last guard_bytes stay out of reach, so that a run over the slab's end faults.
  uint64_t usable = chunk_bytes - guard_bytes;
  uint32_t slots = static_cast<uint32_t>(usable / slot_bytes);
  region->committed = round_up(slots * slot_bytes, page_bytes);
  if (!commit(region, region->committed, false)) {
    return_chunks(region);
    return nullptr;
  }
  region->slot_bytes = static_cast<uint32_t>(slot_bytes);
  region->size_class = size_class;
  region->blocks.assign(slots, Block{});
  region->free.reserve(slots);
  for (uint32_t slot = slots; slot-- > 0;) region->free.push_back(slot);
  list_slab(region);
  return region;
}

Allocator::Region* Allocator::take_chunks(uint32_t chunks, bool fresh_address) {
  // Large blocks move on through the range, so that a pointer to a freed one keeps faulting; slabs
  // stay together at its beginning.
  if (fresh_address) {
    auto run = free_chunks_.upper_bound(next_chunk_);
    if (run != free_chunks_.begin()) --run;
    for (; run != free_chunks_.end(); ++run) {
      uint64_t first = std::max(run->first, next_chunk_), end = run->first + run->second;
      if (first >= end || end - first < chunks) continue;
      next_chunk_ = first + chunks;
      return cut_chunks(run, first, chunks);
    }
    next_chunk_ = 0;
  }
  for (auto run = free_chunks_.begin(); run != free_chunks_.end(); ++run)
    if (run->second >= chunks) return cut_chunks(run, run->first, chunks);
  return nullptr;
}

Allocator::Region* Allocator::cut_chunks(std::map<uint64_t, uint64_t>::iterator run, uint64_t first,
                                         uint32_t chunks) {
  uint64_t before = first - run->first, after = run->first + run->second - first - chunks;
  if (before)
    run->second = before;
  else
    free_chunks_.erase(run);
  if (after) free_chunks_.emplace(first + chunks, after);
  auto* region = new Region;
  region->base = options_.base + first * chunk_bytes;
  region->chunks = chunks;
  for (uint32_t i = 0; i < chunks; ++i) table_[first + i].store(region, std::memory_order_release);
  return region;
}

void Allocator::return_chunks(Region* region) {
  if (region->committed) AddressSpace::release(region->base, region->committed);
  if (options_.file) options_.file->discard(region->base - options_.base, region->committed);
  uint64_t first = (region->base - options_.base) / chunk_bytes, count = region->chunks;
  for (uint64_t i = 0; i < count; ++i) table_[first + i].store(nullptr, std::memory_order_release);
  delete region;
  auto next = free_chunks_.lower_bound(first);
  if (next != free_chunks_.end() && next->first == first + count) {
    count += next->second;
    next = free_chunks_.erase(next);
  }
  if (next != free_chunks_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == first) {
      before->second += count;
      return;
    }
  }
  free_chunks_.emplace(first, count);
}

void Allocator::list_slab(Region* region) {
  region->prev = nullptr;
  region->next = with_room_[region->size_class];
  if (region->next) region->next->prev = region;
  with_room_[region->size_class] = region;
  region->listed = true;
}

void Allocator::unlist_slab(Region* region) {
  if (region->prev)
    region->prev->next = region->next;
  else
    with_room_[region->size_class] = region->next;
  if (region->next) region->next->prev = region->prev;
  region->next = region->prev = nullptr;
  region->listed = false;
}

Allocator::Region* Allocator::region_at(uint64_t address) const {
  uint64_t offset = address - options_.base;
  if (!table_ || offset >= options_.range_bytes) return nullptr;
  return table_[offset / chunk_bytes].load(std::memory_order_acquire);
}

bool Allocator::locate(uint64_t address, Region** region, uint32_t* slot) const {
  *region = region_at(address);
  if (!*region) return false;
  *slot = 0;
  if ((*region)->slot_bytes) {
    *slot = static_cast<uint32_t>((address - (*region)->base) / (*region)->slot_bytes);
    if (*slot >= (*region)->blocks.size()) return false;
  }
  uint64_t base = (*region)->base + uint64_t{*slot} * (*region)->slot_bytes;
  const Block& block = (*region)->blocks[*slot];
  return block.bytes != 0 && address - base < block.bytes;
}

bool Allocator::find(uint64_t address, Allocation* out) const {
  std::lock_guard lock(mutex_);
  Region* region = nullptr;
  uint32_t slot = 0;
  if (!locate(address, &region, &slot)) return false;
  const Block& block = region->blocks[slot];
  *out = Allocation{region->base + uint64_t{slot} * region->slot_bytes,
                    block.bytes,
                    block.id,
                    block.owner,
                    block.kind,
                    block.flags};
  return true;
}

bool Allocator::release(uint64_t base, Stray stray) {
  bool waits;
  {
    std::lock_guard lock(mutex_);
    Region* region = nullptr;
    uint32_t slot = 0;
    if (!locate(base, &region, &slot)) return false;
    if (base != region->base + uint64_t{slot} * region->slot_bytes) return false;
    waits = release_slot(region, slot, true, stray);
  }
  if (waits) options_.freed_waits();
  return true;
}

bool Allocator::reuse(uint64_t base, uint64_t bytes, MemoryKind kind, uint32_t owner) {
  std::lock_guard lock(mutex_);
  Region* region = nullptr;
  uint32_t slot = 0;
  if (bytes == 0 || !locate(base, &region, &slot)) return false;
  uint64_t room = region->slot_bytes ? region->slot_bytes - canary_bytes : region->committed;
  if (bytes > room || base != region->base + uint64_t{slot} * region->slot_bytes) return false;
  Block& block = region->blocks[slot];
  if (region->slot_bytes) check_canary(base, block);
  if (bytes > block.extent) {
    block.extent = bytes;
    if (region->slot_bytes) write_canary(base, bytes);
  }
  if (block.kind != kind) block.id = next_id_++;
  block.bytes = bytes;
  block.kind = kind;
  block.owner = owner;
  return true;
}

bool Allocator::release_slot(Region* region, uint32_t slot, bool keep, Stray stray) {
  if (!region->slot_bytes) {
    used_.fetch_sub(region->committed, std::memory_order_relaxed);
    if (keep && options_.freed_waits && !region->file) return keep_freed(region, stray);
    --page_regions_;
    return_chunks(region);
    return false;
  }
  check_canary(region->base + uint64_t{slot} * region->slot_bytes, region->blocks[slot]);
  region->blocks[slot] = Block{};
  region->free.push_back(slot);
  used_.fetch_sub(region->slot_bytes, std::memory_order_relaxed);
  --region->live;
  if (!region->listed) list_slab(region);
  // An empty slab goes back unless it is the only one of its class with room: keeping one avoids a
  // system call for each allocate/free pair.
  if (region->live == 0 && (region->prev || region->next)) {
    unlist_slab(region);
    return_chunks(region);
  }
  return false;
}

uint64_t Allocator::free_run_at(uint64_t chunk) const {
  auto after = free_chunks_.upper_bound(chunk);
  if (after == free_chunks_.begin()) return 0;
  auto run = std::prev(after);
  uint64_t end = run->first + run->second;
  return end > chunk ? end - chunk : 0;
}

void Allocator::release_owner(uint32_t owner) {
  std::lock_guard lock(mutex_);
  for (uint64_t chunk = 0, end = options_.range_bytes / chunk_bytes; chunk < end;) {
    if (uint64_t gap = free_run_at(chunk)) {
      chunk += gap;
      continue;
    }
    Region* region = table_[chunk].load();
    chunk += region->chunks;
    uint32_t live = region->live;
    for (uint32_t slot = 0; live > 0 && slot < region->blocks.size(); ++slot) {
      if (region->blocks[slot].bytes == 0) continue;
      --live;
      if (region->blocks[slot].owner != owner) continue;
      release_slot(region, slot, false, Stray::faults);
      if (live == 0) break;  // the region may be gone
    }
  }
}

std::vector<Allocation> Allocator::list(uint32_t owner, MemoryKind kind) const {
  std::vector<Allocation> found;
  std::lock_guard lock(mutex_);
  for (uint64_t chunk = 0, end = options_.range_bytes / chunk_bytes; chunk < end;) {
    if (uint64_t gap = free_run_at(chunk)) {
      chunk += gap;
      continue;
    }
    const Region* region = table_[chunk].load();
    chunk += region->chunks;
    for (uint32_t slot = 0; slot < region->blocks.size(); ++slot) {
      const Block& block = region->blocks[slot];
      if (!block.bytes || block.owner != owner) continue;
      if (kind != MemoryKind::none && block.kind != kind) continue;
      found.push_back({region->base + uint64_t{slot} * region->slot_bytes, block.bytes, block.id,
                       block.owner, block.kind, block.flags});
    }
  }
  return found;
}

void Allocator::write_canary(uint64_t base, uint64_t bytes) {
  std::memset(reinterpret_cast<void*>(base + bytes), canary_byte, canary_bytes);
}

void Allocator::check_canary(uint64_t base, const Block& block) const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(base + block.extent);
  for (uint64_t i = 0; i < canary_bytes; ++i) {
    if (bytes[i] == canary_byte) continue;
    log::warn(
        "something wrote past the end of a %s block: %llu bytes at %#llx, first overwritten "
        "byte at offset %llu",
        options_.what, static_cast<unsigned long long>(block.extent),
        static_cast<unsigned long long>(base), static_cast<unsigned long long>(block.extent + i));
    return;
  }
}

}  // namespace limen::cpu
