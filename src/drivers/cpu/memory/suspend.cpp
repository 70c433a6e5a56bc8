// Allocator::suspend and resume. See suspend.h.
// Thread rule: under the allocator's mutex.
#include "drivers/cpu/memory/suspend.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <string>

namespace limen::cpu {

namespace {

/// Address ranges of private anonymous memory; what a file or another process holds is left out.
std::vector<std::pair<uint64_t, uint64_t>> private_ranges() {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin, end, offset, inode;
    char flags[8], device[16];
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %15s %" SCNu64, &begin,
                    &end, flags, &offset, device, &inode) != 6)
      continue;
    if (flags[0] != 'r' || flags[3] != 'p' || inode) continue;
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = end;
    else
      ranges.emplace_back(begin, end);
  }
  return ranges;
}

bool holds(const std::vector<std::pair<uint64_t, uint64_t>>& ranges, uint64_t base,
           uint64_t bytes) {
  for (auto [begin, end] : ranges)
    if (base >= begin && base + bytes <= end) return true;
  return false;
}

/// Copies what is not zero: pages that were never touched read as zeros and take no room.
bool take(SuspendedRegion& region, uint64_t page_bytes) {
  static const unsigned char zeros[4096] = {};
  for (uint64_t page = region.base; page < region.base + region.bytes; page += page_bytes)
    if (std::memcmp(reinterpret_cast<void*>(page), zeros, page_bytes) != 0)
      region.pages.push_back(page);
  region.data.reset(new (std::nothrow) unsigned char[region.pages.size() * page_bytes]);
  if (!region.data) return false;
  for (size_t i = 0; i < region.pages.size(); ++i)
    std::memcpy(&region.data[i * page_bytes], reinterpret_cast<void*>(region.pages[i]), page_bytes);
  return true;
}

}  // namespace

bool Allocator::suspend(SuspendedMemory* out) {
  std::lock_guard lock(mutex_);
  while (oldest_) drop_oldest_freed();
  const auto ranges = private_ranges();
  for (uint64_t chunk = 0, end = options_.range_bytes / chunk_bytes; chunk < end;) {
    if (uint64_t gap = free_run_at(chunk)) {
      chunk += gap;
      continue;
    }
    Region* region = table_[chunk].load();
    chunk += region->chunks;
    bool managed = false;
    for (const Block& block : region->blocks)
      managed |= block.bytes && block.kind == MemoryKind::managed;
    if (managed || !region->committed || !holds(ranges, region->base, region->committed)) continue;
    SuspendedRegion taken{
        region->base, region->committed, region->committed >= chunk_bytes, {}, {}};
    if (!take(taken, page_bytes)) return false;
    out->regions.push_back(std::move(taken));
  }
  for (const SuspendedRegion& region : out->regions)
    AddressSpace::release(region.base, region.bytes);
  return true;
}

bool Allocator::resume(SuspendedMemory& memory) {
  std::lock_guard lock(mutex_);
  for (SuspendedRegion& region : memory.regions) {
    if (!AddressSpace::commit(region.base, region.bytes, region.huge)) return false;
    for (size_t i = 0; i < region.pages.size(); ++i)
      std::memcpy(reinterpret_cast<void*>(region.pages[i]), &region.data[i * page_bytes],
                  page_bytes);
    region.data.reset();
  }
  memory.regions.clear();
  return true;
}

}  // namespace limen::cpu
