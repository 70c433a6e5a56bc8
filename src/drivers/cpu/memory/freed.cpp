// Freed pages that the allocator keeps for a while: a new block of their size takes them without a
// system call, without page faults and without clearing. They are open until kernels start (memory
// freed by the program: a stray access must fault) or for a moment (memory that a pool gave back),
// then sealed, then lazy: the system takes them when it is short, as if they were free. What nobody
// wanted for seconds is given back. Bounded by a share of the device's and of the free memory.
// Pages of a file (pools that may be exported) cannot be lazy: they go sooner. Thread rule: under
// the allocator's mutex. docs: design/memory.md
#include <sys/mman.h>
#include <time.h>

#include <iterator>

#include "drivers/cpu/memory/allocator.h"
#include "drivers/cpu/memory/shared_file.h"

namespace limen::cpu {

namespace {

constexpr uint64_t lazy_after_ns = 50'000'000, drop_after_ns = 2'000'000'000,
                   drop_file_after_ns = 500'000'000;

void* pages_of(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

uint64_t coarse_clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000u + uint64_t(now.tv_nsec);
}

bool Allocator::keep_freed(Region* region, Stray stray) {
  const uint64_t bytes = region->committed;
  region->blocks[0] = Block{};
  region->live = 0;
  // Many kept pages are many mappings, too.
  if (bytes > most_freed_.load(std::memory_order_relaxed) || page_regions_ >= crowded_regions) {
    --page_regions_;
    return_chunks(region);
    return false;
  }
  region->pages = stray == Stray::faults ? Pages::to_seal : Pages::open;
  if (region->pages == Pages::to_seal) unsealed_.fetch_add(1, std::memory_order_relaxed);
  region->freed_ns = coarse_clock_ns();
  region->prev = newest_;
  region->next = nullptr;
  const bool first = !oldest_;
  (newest_ ? newest_->next : oldest_) = region;
  newest_ = region;
  freed_.emplace(bytes, region);
  freed_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  while (freed_bytes_.load(std::memory_order_relaxed) > most_freed_.load(std::memory_order_relaxed))
    drop_oldest_freed();
  return first;
}

void Allocator::unlist_freed(Region* region) {
  (region->prev ? region->prev->next : oldest_) = region->next;
  (region->next ? region->next->prev : newest_) = region->prev;
  region->next = region->prev = nullptr;
  auto [at, end] = freed_.equal_range(region->committed);
  while (at != end && at->second != region) ++at;
  freed_.erase(at);
  freed_bytes_.fetch_sub(region->committed, std::memory_order_relaxed);
  if (region->pages == Pages::to_seal) unsealed_.fetch_sub(1, std::memory_order_relaxed);
}

void Allocator::drop_oldest_freed() {
  Region* region = oldest_;
  unlist_freed(region);
  --page_regions_;
  return_chunks(region);
}

/// Freed pages for a block of `committed` bytes, open again. A little too many are cut to size, so
/// that what lies behind the block faults.
Allocator::Region* Allocator::take_freed(uint64_t committed, bool also_lazy) {
  const uint64_t most = committed + committed / 8;
  for (auto at = freed_.lower_bound(committed); at != freed_.end() && at->first <= most;) {
    // Of one size the latest: its pages are in the caches.
    auto next = freed_.upper_bound(at->first);
    Region* region = std::prev(next)->second;
    if (region->pages == Pages::lazy && !also_lazy) {
      at = next;
      continue;
    }
    const Pages before = region->pages;
    unlist_freed(region);
    if ((before == Pages::sealed || before == Pages::lazy) &&
        mprotect(pages_of(region->base), committed, PROT_READ | PROT_WRITE) != 0) {
      --page_regions_;
      return_chunks(region);
      return nullptr;
    }
    if (const uint64_t rest = region->committed - committed) {
      AddressSpace::release(region->base + committed, rest);
      if (options_.file) options_.file->discard(region->base + committed - options_.base, rest);
    }
    region->committed = committed;
    region->pages = Pages::live;
    return region;
  }
  return nullptr;
}

void Allocator::seal_freed() {
  std::lock_guard lock(mutex_);
  for (Region* region = newest_; region && unsealed_.load(std::memory_order_relaxed);) {
    Region* next = region->prev;
    if (region->pages == Pages::to_seal) {
      unsealed_.fetch_sub(1, std::memory_order_relaxed);
      region->pages = Pages::sealed;
      if (mprotect(pages_of(region->base), region->committed, PROT_NONE) != 0) {
        unlist_freed(region);
        --page_regions_;
        return_chunks(region);
      }
    }
    region = next;
  }
}

bool Allocator::age_freed(uint64_t now_ns) {
  std::lock_guard lock(mutex_);
  const uint64_t drop_ns = options_.file ? drop_file_after_ns : drop_after_ns;
  while (oldest_ && now_ns - oldest_->freed_ns >= drop_ns) drop_oldest_freed();
  if (options_.file) return oldest_ != nullptr;
  for (Region* region = oldest_; region && now_ns - region->freed_ns >= lazy_after_ns;
       region = region->next) {
    if (region->pages == Pages::lazy) continue;
    if (region->pages == Pages::to_seal) unsealed_.fetch_sub(1, std::memory_order_relaxed);
    if (region->pages != Pages::sealed)
      mprotect(pages_of(region->base), region->committed, PROT_NONE);
    madvise(pages_of(region->base), region->committed, MADV_FREE);
    region->pages = Pages::lazy;
  }
  return oldest_ != nullptr;
}

void Allocator::drop_freed() {
  std::lock_guard lock(mutex_);
  while (oldest_) drop_oldest_freed();
}

}  // namespace limen::cpu
