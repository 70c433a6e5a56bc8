// Guarded anonymous memory; see arena.h.
#include "engine/arena.h"

#include <sys/mman.h>

#include "devlib/kernel_abi.h"

namespace limen::engine {
namespace {
constexpr size_t page_bytes = 4096;
constexpr size_t least_guard_bytes = 64 * 1024;
}  // namespace

Arena::~Arena() { release(); }

void Arena::release() {
  if (base_ != nullptr) munmap(base_, capacity_ + 2 * guard_bytes_);
  base_ = nullptr;
  capacity_ = 0;
}

uint8_t* Arena::get(size_t bytes, size_t alignment) {
  const size_t need = (bytes + alignment - 1) & ~(alignment - 1);
  if (base_ == nullptr || need > capacity_) {
    size_t capacity = need < 2 * capacity_ ? 2 * capacity_ : need;
    capacity = (capacity + page_bytes - 1) & ~(page_bytes - 1);
    if (capacity == 0) capacity = page_bytes;
    release();
    void* memory;
    for (;;) {
      memory = mmap(nullptr, capacity + 2 * guard_bytes_, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory != MAP_FAILED || guard_bytes_ <= least_guard_bytes) break;
      guard_bytes_ = least_guard_bytes;
    }
    if (memory == MAP_FAILED) return nullptr;
    auto* base = static_cast<uint8_t*>(memory);
    if (mprotect(base + guard_bytes_, capacity, PROT_READ | PROT_WRITE) != 0) {
      munmap(base, capacity + 2 * guard_bytes_);
      return nullptr;
    }
    base_ = base;
    capacity_ = capacity;
  }
  return base_ + guard_bytes_ + capacity_ - need;
}

ClusterWindow::~ClusterWindow() { release(); }

void ClusterWindow::release() {
  if (base_ != nullptr) munmap(base_, mapped_);
  base_ = nullptr;
  capacity_ = 0;
  blocks_ = 0;
}

uint8_t* ClusterWindow::get(uint32_t blocks, size_t bytes, size_t alignment) {
  constexpr size_t part_bytes = size_t{1} << kernel::cluster_window_shift;
  const size_t need = (bytes + alignment - 1) & ~(alignment - 1);
  if (need > part_bytes / 2) return nullptr;
  if (base_ == nullptr || blocks > blocks_ || need > capacity_) {
    const uint32_t parts = blocks > blocks_ ? blocks : blocks_;
    size_t capacity = need > capacity_ ? (need + page_bytes - 1) & ~(page_bytes - 1) : capacity_;
    if (capacity == 0) capacity = page_bytes;
    release();
    guard_bytes_ = shared_guard_bytes;
    void* memory;
    for (;;) {
      mapped_ = parts * part_bytes + 2 * guard_bytes_;
      memory = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                    0);
      if (memory != MAP_FAILED || guard_bytes_ <= least_guard_bytes) break;
      guard_bytes_ = least_guard_bytes;
    }
    if (memory == MAP_FAILED) return nullptr;
    base_ = static_cast<uint8_t*>(memory);
    for (uint32_t i = 0; i < parts; ++i)
      if (mprotect(base_ + guard_bytes_ + i * part_bytes, capacity, PROT_READ | PROT_WRITE) != 0) {
        release();
        return nullptr;
      }
    blocks_ = parts;
    capacity_ = capacity;
  }
  return base_ + guard_bytes_ + capacity_ - need;
}

void Arena::trim(size_t keep_bytes) {
  if (capacity_ > keep_bytes) release();
}

}  // namespace limen::engine
