// StackStore: all fibers and their guarded stacks of one size, shared by the workers of the
// process. Guards cost no mapping where the kernel has MADV_GUARD_INSTALL (Linux 6.13); elsewhere
// each stack takes two of the vm.max_map_count mappings, so stacks are few and must move between
// workers. Invariant: a fiber in the store is fresh: its next resume starts at the entry, on any
// worker. Thread rule: any thread; the store's own mutex. Stores are never destroyed.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace limen::engine {

struct Fiber;

class StackStore {
 public:
  static constexpr size_t guard_bytes = 64 * 1024;

  ~StackStore();
  StackStore(const StackStore&) = delete;
  StackStore& operator=(const StackStore&) = delete;

  /// The store for stacks of `stack_bytes`, rounded up to whole pages.
  static StackStore& of(size_t stack_bytes);

  /// Appends `count` fibers to `out`, or none and returns false.
  bool acquire(size_t count, std::vector<Fiber*>& out);
  void release(const std::vector<Fiber*>& fibers);

  /// Stacks that may exist at once, over all stores.
  static size_t limit();
  /// Replaces the limit; 0 restores the system's. For tests.
  static void set_limit(size_t stacks);
  /// Stacks made so far, over all stores.
  static size_t made() { return made_.load(std::memory_order_relaxed); }
  /// Stacks that workers hold now, over all stores.
  static size_t held() { return held_.load(std::memory_order_relaxed); }
  /// Set when an acquire failed: workers then return the stacks they do not use.
  static bool wanted() { return wanted_.load(std::memory_order_relaxed); }
  static void set_wanted(bool wanted) { wanted_.store(wanted, std::memory_order_relaxed); }

 private:
  explicit StackStore(size_t stack_bytes);
  bool grow(size_t count);
  bool install_guards(unsigned char* base, size_t count) const;

  static std::atomic<size_t> held_;
  static std::atomic<size_t> made_;
  static std::atomic<bool> wanted_;
  static std::atomic<size_t> set_limit_;
  const size_t stack_bytes_;
  std::mutex mutex_;
  std::vector<Fiber*> free_;
  std::vector<std::unique_ptr<Fiber[]>> slabs_;
};

}  // namespace limen::engine
