// The table behind texture and surface handles; see texture.h. Slots lie in one reserved range so
// that a lookup needs no lock: memory is committed by the system when a slot is first written.
#include <sys/mman.h>

#include <new>

#include "engine/texture_lanes.h"

namespace limen::engine {

TextureTable::Slot* TextureTable::slot_of(uint64_t handle) {
  const uint64_t index = handle & index_mask;
  if (handle == 0 || index >= used_) return nullptr;
  Slot* slot = slots_.load() + index;
  return slot->handle == handle ? slot : nullptr;
}

uint64_t TextureTable::add(const Texture& texture) {
  std::lock_guard lock(mutex_);
  if (!slots_) {
    void* memory = mmap(nullptr, sizeof(Slot) << index_bits, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return 0;
    slots_ = static_cast<Slot*>(memory);
  }
  uint64_t index = used_;
  const bool full = index > index_mask;
  if (free_.size() > quarantine || (full && !free_.empty())) {
    index = free_.front();
    free_.pop_front();
  } else if (full) {
    return 0;
  }
  Slot* slot = slots_.load() + index;
  if (index == used_) new (slot) Slot;
  slot->texture = texture;
  plan_lanes(&slot->texture);
  const uint64_t handle = ++slot->generation << index_bits | index;
  slot->handle.store(handle, std::memory_order_release);
  if (index == used_) used_.store(index + 1, std::memory_order_release);
  return handle;
}

bool TextureTable::remove(uint64_t handle) {
  std::lock_guard lock(mutex_);
  Slot* slot = slot_of(handle);
  if (!slot) return false;
  slot->handle.store(0, std::memory_order_release);
  free_.push_back(handle & index_mask);
  return true;
}

void TextureBindings::set(uint64_t handle, const Texture& texture) {
  Texture& bound = by_handle[handle];
  bound = texture;
  plan_lanes(&bound);
}

}  // namespace limen::engine
