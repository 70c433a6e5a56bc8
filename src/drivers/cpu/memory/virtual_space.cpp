// Reservations, mappings and access. Every mmap and mprotect happens under the lock, so that the
// page table and the maps agree for whoever looks. Thread rule: see the header.
#include "drivers/cpu/memory/virtual_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace limen::cpu {

namespace {

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

}  // namespace

uint64_t next_block_id() {
  static std::atomic<uint64_t> next{uint64_t{1} << 61};  // apart from the allocators' ids
  return next++;
}

int Access::protection() const {
  if (writable) return PROT_READ | PROT_WRITE;
  return readable ? PROT_READ : PROT_NONE;
}

bool VirtualSpace::is_free(uint64_t base, uint64_t bytes) const {
  if (base < base_ || bytes > bytes_ || base - base_ > bytes_ - bytes) return false;
  auto next = reserved_.lower_bound(base);
  if (next != reserved_.end() && next->first < base + bytes) return false;
  if (next == reserved_.begin()) return true;
  auto before = std::prev(next);
  return before->first + before->second <= base;
}

uint64_t VirtualSpace::reserve(uint64_t bytes, uint64_t alignment, uint64_t hint) {
  if (!bytes || bytes > bytes_) return 0;
  const uint64_t step = std::max(alignment, chunk_bytes);
  std::unique_lock lock(mutex_);
  if (hint && hint % step == 0 && is_free(hint, bytes)) {
    reserved_.emplace(hint, bytes);
    return hint;
  }
  const uint64_t end = base_ + bytes_;
  for (uint64_t start : {next_ ? next_ : base_, base_}) {
    for (uint64_t at = round_up(start, step); at < end && bytes <= end - at;) {
      if (is_free(at, bytes)) {
        reserved_.emplace(at, bytes);
        // A chunk stays free behind it: a run over the end faults.
        next_ = round_up(at + bytes, chunk_bytes) + chunk_bytes;
        return at;
      }
      auto blocking = std::prev(reserved_.lower_bound(at + bytes));
      at = round_up(blocking->first + blocking->second + chunk_bytes, step);
    }
  }
  return 0;
}

bool VirtualSpace::unreserve(uint64_t base, uint64_t bytes) {
  std::unique_lock lock(mutex_);
  auto found = reserved_.find(base);
  if (found == reserved_.end() || found->second != bytes || allocators_.count(base)) return false;
  auto mapped = mapped_.lower_bound(base);
  if (mapped != mapped_.end() && mapped->first < base + bytes) return false;
  reserved_.erase(found);
  return true;
}

CUresult VirtualSpace::map(Mapping mapping) {
  std::unique_lock lock(mutex_);
  const uint64_t base = mapping.first_page(), bytes = mapping.page_span();
  auto range = reserved_.upper_bound(base);
  if (range == reserved_.begin()) return CUDA_ERROR_INVALID_VALUE;
  --range;
  if (allocators_.count(range->first) || base - range->first > range->second ||
      bytes > range->second - (base - range->first))
    return CUDA_ERROR_INVALID_VALUE;
  auto next = mapped_.lower_bound(base);
  if (next != mapped_.end() && next->first < base + bytes) return CUDA_ERROR_INVALID_VALUE;
  if (next != mapped_.begin()) {
    const Mapping& before = std::prev(next)->second;
    if (before.base + before.bytes > base) return CUDA_ERROR_INVALID_VALUE;
  }
  if (!mapping.file->map(base, bytes, mapping.offset, mapping.access.protection()))
    return CUDA_ERROR_OUT_OF_MEMORY;
  // Pages that are mapped need no descriptor; only what can be exported keeps one.
  if (!mapping.physical) mapping.file = nullptr;
  const uint64_t block = mapping.base;
  mapped_.emplace(block, std::move(mapping));
  return CUDA_SUCCESS;
}

/// Whether whole mappings, one behind the other, make up the range.
bool VirtualSpace::covered(uint64_t base, uint64_t bytes) const {
  const uint64_t end = base + bytes;
  uint64_t at = base;
  for (auto next = mapped_.find(base); at < end; ++next) {
    if (next == mapped_.end() || next->first != at) return false;
    at += next->second.bytes;
  }
  return bytes && at == end;
}

std::vector<Mapping> VirtualSpace::mappings_of(uint64_t base, uint64_t bytes) const {
  std::shared_lock lock(mutex_);
  std::vector<Mapping> found;
  if (!covered(base, bytes)) return found;
  for (auto next = mapped_.find(base); next != mapped_.end() && next->first < base + bytes; ++next)
    found.push_back(next->second);
  return found;
}

bool VirtualSpace::can_unmap(uint64_t base, uint64_t bytes) const {
  std::shared_lock lock(mutex_);
  return cuts_none(base, bytes);
}

bool VirtualSpace::cuts_none(uint64_t base, uint64_t bytes) const {
  const uint64_t end = base + bytes;
  auto range = reserved_.upper_bound(base);
  if (range == reserved_.begin()) return false;
  --range;
  if (allocators_.count(range->first) || base - range->first >= range->second) return false;
  auto next = mapped_.lower_bound(base);
  if (next != mapped_.begin()) {
    const Mapping& before = std::prev(next)->second;
    if (before.base + before.bytes > base) return false;
  }
  for (; next != mapped_.end() && next->first < end; ++next)
    if (next->second.kind != MemoryKind::mapped || next->first + next->second.bytes > end)
      return false;
  return true;
}

bool VirtualSpace::unmap_all(uint64_t base, uint64_t bytes, std::vector<Mapping>* gone) {
  std::unique_lock lock(mutex_);
  if (!cuts_none(base, bytes)) return false;
  take_out(base, bytes, gone);
  return true;
}

bool VirtualSpace::unmap(uint64_t base, uint64_t bytes, std::vector<Mapping>* gone) {
  std::unique_lock lock(mutex_);
  if (!covered(base, bytes)) return false;
  take_out(base, bytes, gone);
  return true;
}

void VirtualSpace::take_out(uint64_t base, uint64_t bytes, std::vector<Mapping>* gone) {
  for (auto next = mapped_.lower_bound(base);
       next != mapped_.end() && next->first < base + bytes;) {
    AddressSpace::release(next->second.first_page(), next->second.page_span());
    gone->push_back(std::move(next->second));
    next = mapped_.erase(next);
  }
}

CUresult VirtualSpace::set_access(uint64_t base, uint64_t bytes, uint64_t bits, bool readable,
                                  bool writable) {
  std::unique_lock lock(mutex_);
  if (!covered(base, bytes)) return CUDA_ERROR_INVALID_VALUE;
  for (auto next = mapped_.find(base); next != mapped_.end() && next->first < base + bytes;
       ++next) {
    Mapping& mapping = next->second;
    Access& access = mapping.access;
    access.readable = readable ? access.readable | bits : access.readable & ~bits;
    access.writable = writable ? access.writable | bits : access.writable & ~bits;
    void* pages = reinterpret_cast<void*>(mapping.first_page());
    if (mprotect(pages, mapping.page_span(), access.protection()) != 0)
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_SUCCESS;
}

const Mapping* VirtualSpace::at(uint64_t address) const {
  auto next = mapped_.upper_bound(address);
  if (next == mapped_.begin()) return nullptr;
  const Mapping& mapping = std::prev(next)->second;
  return address - mapping.base < mapping.bytes ? &mapping : nullptr;
}

bool VirtualSpace::find(uint64_t address, Mapping* out) const {
  std::shared_lock lock(mutex_);
  const Mapping* mapping = at(address);
  if (!mapping) return false;
  *out = *mapping;
  return true;
}

bool VirtualSpace::accessible(uint64_t address, uint64_t bytes, bool write) const {
  std::shared_lock lock(mutex_);
  const uint64_t end = address + bytes;
  if (end < address) return false;
  while (address < end) {
    const Mapping* mapping = at(address);
    if (!mapping || !(write ? mapping->access.writable : mapping->access.readable)) return false;
    address = mapping->base + mapping->bytes;
  }
  return true;
}

uint64_t VirtualSpace::place(Mapping mapping) {
  const uint64_t room = round_up(mapping.page_span(), chunk_bytes);
  const uint64_t first = reserve(room, 0, 0);
  if (!first) return 0;
  const uint64_t block = first + mapping.lead;
  mapping.base = block;
  if (map(std::move(mapping)) == CUDA_SUCCESS) return block;
  unreserve(first, room);
  return 0;
}

bool VirtualSpace::displace(uint64_t base, MemoryKind kind) {
  Mapping mapping;
  if (!find(base, &mapping) || mapping.base != base || mapping.kind != kind) return false;
  std::vector<Mapping> gone;
  return unmap(base, mapping.bytes, &gone) &&
         unreserve(mapping.first_page(), round_up(mapping.page_span(), chunk_bytes));
}

void VirtualSpace::write_protect(const PhysicalMemory* physical) {
  std::unique_lock lock(mutex_);
  for (auto& [base, mapping] : mapped_)
    if (mapping.physical == physical && mapping.access.writable)
      mprotect(reinterpret_cast<void*>(mapping.first_page()), mapping.page_span(), PROT_READ);
}

void VirtualSpace::move_to(const PhysicalMemory* physical, const std::shared_ptr<SharedFile>& file,
                           uint64_t old_offset) {
  std::unique_lock lock(mutex_);
  for (auto& [base, mapping] : mapped_) {
    if (mapping.physical != physical) continue;
    mapping.offset -= old_offset;
    mapping.file = file;
    file->map(mapping.first_page(), mapping.page_span(), mapping.offset,
              mapping.access.protection());
  }
}

std::vector<Mapping> VirtualSpace::owned_by(uint32_t owner) const {
  std::shared_lock lock(mutex_);
  std::vector<Mapping> found;
  for (const auto& [base, mapping] : mapped_)
    if (mapping.owner == owner) found.push_back(mapping);
  return found;
}

void VirtualSpace::add_allocator(uint64_t base, Allocator* memory) {
  std::unique_lock lock(mutex_);
  allocators_[base] = memory;
}

void VirtualSpace::remove_allocator(uint64_t base) {
  std::unique_lock lock(mutex_);
  allocators_.erase(base);
}

Allocator* VirtualSpace::allocator_of(uint64_t address) const {
  std::shared_lock lock(mutex_);
  auto next = allocators_.upper_bound(address);
  if (next == allocators_.begin()) return nullptr;
  --next;
  auto range = reserved_.find(next->first);
  bool inside = range != reserved_.end() && address - range->first < range->second;
  return inside ? next->second : nullptr;
}

}  // namespace limen::cpu
