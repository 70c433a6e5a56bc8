// The kernels' heap: best fit over an ordered map of free blocks. Bookkeeping lies outside the
// region, so that a kernel's stray store cannot corrupt it. Thread rule: see the header.
#include "drivers/cpu/memory/heap.h"

#include <algorithm>

#include "drivers/cpu/memory/allocator.h"

namespace limen::cpu {

void DeviceHeap::bind(Allocator* memory, uint32_t owner) {
  std::lock_guard lock(mutex_);
  memory_ = memory;
  owner_ = owner;
}

bool DeviceHeap::set_limit(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (base_) return false;
  limit_ = bytes;
  return true;
}

void DeviceHeap::reset() {
  std::lock_guard lock(mutex_);
  base_ = 0;
  limit_ = default_limit_bytes;
  free_.clear();
  by_size_.clear();
  live_.clear();
}

bool DeviceHeap::make_region() {
  base_ = memory_ ? memory_->allocate(limit_, MemoryKind::heap, owner_) : 0;
  if (!base_) return false;
  add_free(0, limit_ / grain_bytes * grain_bytes);
  return true;
}

void DeviceHeap::add_free(uint64_t offset, uint64_t bytes) {
  free_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
}

void DeviceHeap::drop_free(std::map<uint64_t, uint64_t>::iterator block) {
  by_size_.erase({block->second, block->first});
  free_.erase(block);
}

uint64_t DeviceHeap::allocate(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes == 0 || bytes > limit_) return 0;
  if (!base_ && !make_region()) return 0;
  bytes = (bytes + grain_bytes - 1) / grain_bytes * grain_bytes;
  auto fit = by_size_.lower_bound({bytes, 0});
  if (fit == by_size_.end()) return 0;
  auto [size, offset] = *fit;
  drop_free(free_.find(offset));
  if (size > bytes) add_free(offset + bytes, size - bytes);
  live_.emplace(offset, bytes);
  return base_ + offset;
}

bool DeviceHeap::release(uint64_t address) {
  if (address == 0) return true;
  std::lock_guard lock(mutex_);
  auto live = base_ ? live_.find(address - base_) : live_.end();
  if (live == live_.end()) return false;
  uint64_t offset = live->first, bytes = live->second;
  live_.erase(live);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + bytes) {
    bytes += next->second;
    auto merged = next++;
    drop_free(merged);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      drop_free(before);
    }
  }
  add_free(offset, bytes);
  return true;
}

}  // namespace limen::cpu
