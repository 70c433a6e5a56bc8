// See context_storage.h. The list is short (one entry a context and runtime copy), so it is
// searched from front to back; the cache makes the usual look-up two loads and two compares.
#include "loader/context_storage.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace limen::loader {
namespace {

struct Entry {
  CUcontext context;
  void* key;
  void* value;
  StorageDestructor destructor;
};

constinit std::mutex lock_;
constinit std::vector<Entry>* entries_ = nullptr;  // leaked: used after static destructors
constinit std::atomic<uint64_t> generation_{1};

struct Cached {
  uint64_t generation;
  CUcontext context;
  void* key;
  void* value;
};
constexpr size_t cache_size = 8;  // power of two; programs hold one to five runtime copies
constinit thread_local Cached cache_[cache_size] = {};

Cached& cache_slot(CUcontext context, void* key) {
  auto mixed = reinterpret_cast<uintptr_t>(context) ^ (reinterpret_cast<uintptr_t>(key) >> 3);
  return cache_[((mixed >> 4) ^ (mixed >> 12)) & (cache_size - 1)];
}

std::vector<Entry>& entries() {
  if (!entries_) entries_ = new std::vector<Entry>;
  return *entries_;
}

Entry* find(CUcontext context, void* key) {
  for (Entry& entry : entries()) {
    if (entry.context == context && entry.key == key) return &entry;
  }
  return nullptr;
}

void forget_caches() { generation_.fetch_add(1, std::memory_order_acq_rel); }

}  // namespace

void storage_lock() { lock_.lock(); }
void storage_unlock() { lock_.unlock(); }

CUresult storage_put(CUcontext context, void* key, void* value, StorageDestructor destructor) {
  std::lock_guard guard(lock_);
  if (find(context, key)) return CUDA_ERROR_INVALID_HANDLE;
  entries().push_back({context, key, value, destructor});
  return CUDA_SUCCESS;
}

CUresult storage_delete(CUcontext context, void* key) {
  std::lock_guard guard(lock_);
  Entry* entry = find(context, key);
  if (!entry) return CUDA_ERROR_INVALID_HANDLE;
  *entry = entries().back();
  entries().pop_back();
  forget_caches();
  return CUDA_SUCCESS;
}

CUresult storage_get(void** value, CUcontext context, void* key) {
  Cached& cached = cache_slot(context, key);
  uint64_t now = generation_.load(std::memory_order_acquire);
  if (cached.generation == now && cached.context == context && cached.key == key) {
    *value = cached.value;
    return CUDA_SUCCESS;
  }
  std::lock_guard guard(lock_);
  Entry* entry = find(context, key);
  if (!entry) return CUDA_ERROR_INVALID_HANDLE;
  // Under the lock no entry can go away, so the generation read here fits the value.
  cached = {generation_.load(std::memory_order_relaxed), context, key, entry->value};
  *value = entry->value;
  return CUDA_SUCCESS;
}

void storage_drop(CUcontext context) {
  std::vector<Entry> dropped;
  {
    std::lock_guard guard(lock_);
    std::vector<Entry>& all = entries();
    for (size_t i = 0; i < all.size();) {
      if (all[i].context != context) {
        ++i;
        continue;
      }
      dropped.push_back(all[i]);
      all[i] = all.back();
      all.pop_back();
    }
    if (!dropped.empty()) forget_caches();
  }
  for (const Entry& entry : dropped) {
    if (entry.destructor) entry.destructor(entry.context, entry.key, entry.value);
  }
}

}  // namespace limen::loader
