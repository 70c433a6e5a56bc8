// Arena<T>: the objects behind CUDA's handles. A handle is the object's address; resolve() tells a
// live object of this type from any other bit pattern without reading foreign memory.
// Slots are recycled first-in first-out and only after `quarantine` others, so a stale handle keeps
// being refused for long. Memory is never returned: a late reader sees a dead object, not a fault.
// Thread rule: every member may be called from any thread.
#pragma once
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

namespace limen::cpu {

template <typename T>
class Arena {
 public:
  /// Makes an object; nullptr when the arena is full.
  template <typename... Args>
  T* create(Args&&... args) {
    Slot* slot = take_slot();
    if (!slot) return nullptr;
    T* object = new (slot->storage) T(std::forward<Args>(args)...);
    slot->state.store(state_live, std::memory_order_release);
    return object;
  }

  /// The live object that `handle` is, or nullptr.
  T* resolve(const void* handle) const {
    Slot* slot = slot_of(handle);
    if (!slot || slot->state.load(std::memory_order_acquire) != state_live) return nullptr;
    return reinterpret_cast<T*>(slot->storage);
  }

  /// Whether the bit pattern is the place of an object, live or long gone.
  bool once_was(const void* handle) const { return slot_of(handle) != nullptr; }

  /// Stops resolve() from finding the object. False when somebody else retired it first.
  bool retire(T* object) {
    uint32_t live = state_live;
    return slot_at(object)->state.compare_exchange_strong(live, state_retired);
  }

  /// Whether the handle's object went with its owner, not by a call that names it.
  bool went_with_owner(const void* handle) const {
    Slot* slot = slot_of(handle);
    return slot && slot->state.load(std::memory_order_acquire) == state_orphaned;
  }

  /// Destroys a retired or live object and recycles its slot.
  void destroy(T* object, bool with_owner = false) {
    Slot* slot = slot_at(object);
    slot->state.store(state_retired, std::memory_order_release);
    object->~T();
    slot->state.store(with_owner ? state_orphaned : state_free, std::memory_order_release);
    std::lock_guard lock(mutex_);
    free_.push_back(slot);
  }

 private:
  static constexpr uint32_t state_free = 0, state_live = 0x4c696d65, state_retired = 2,
                            state_orphaned = 3;
  static constexpr size_t arena_bytes = size_t{1} << 32;
  static constexpr size_t quarantine = 4096;

  struct alignas(64) Slot {
    std::atomic<uint32_t> state{state_free};
    alignas(16) unsigned char storage[sizeof(T)];
  };
  static constexpr size_t capacity = arena_bytes / sizeof(Slot);

  static Slot* slot_at(T* object) {
    return reinterpret_cast<Slot*>(reinterpret_cast<unsigned char*>(object) -
                                   offsetof(Slot, storage));
  }

  Slot* slot_of(const void* handle) const {
    auto base = reinterpret_cast<uintptr_t>(base_.load(std::memory_order_acquire));
    uintptr_t address = reinterpret_cast<uintptr_t>(handle) - offsetof(Slot, storage);
    if (!base || address < base) return nullptr;
    uintptr_t offset = address - base;
    size_t index = offset / sizeof(Slot);
    if (index >= used_.load(std::memory_order_acquire) || offset % sizeof(Slot)) return nullptr;
    return reinterpret_cast<Slot*>(address);
  }

  Slot* take_slot() {
    std::lock_guard lock(mutex_);
    if (free_.size() > quarantine || (!free_.empty() && used_ == capacity)) {
      Slot* slot = free_.front();
      free_.pop_front();
      return slot;
    }
    if (!base_ && !reserve()) return nullptr;
    if (used_ == capacity) return nullptr;
    Slot* slot = new (base_.load() + used_) Slot;
    used_.store(used_ + 1, std::memory_order_release);
    return slot;
  }

  bool reserve() {
    void* memory = mmap(nullptr, capacity * sizeof(Slot), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    base_.store(static_cast<Slot*>(memory), std::memory_order_release);
    return true;
  }

  std::atomic<Slot*> base_{nullptr};
  std::atomic<size_t> used_{0};
  std::mutex mutex_;
  std::deque<Slot*> free_;
};

}  // namespace limen::cpu
