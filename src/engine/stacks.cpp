// The process's fiber stacks; see stacks.h.
#include "engine/stacks.h"

#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "engine/fiber.h"

namespace limen::engine {
namespace {

constexpr int guard_install = 102;          // MADV_GUARD_INSTALL, Linux 6.13
constexpr size_t most_stacks = 256 * 1024;  // where only memory bounds them
constexpr size_t fewest_stacks = 2048;      // two blocks of 1024 lanes
#if defined(__SANITIZE_THREAD__)
constexpr size_t most_under_tsan = 3000;  // ThreadSanitizer counts fibers as threads: 8128
#else
constexpr size_t most_under_tsan = most_stacks;
#endif

bool has_cheap_guards() {
  static const bool known = [] {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* probe = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED) return false;
    // Some emulators take every advice and do nothing: a guard shows by what the kernel may not
    // write.
    const bool works = madvise(probe, page, guard_install) == 0 && getrandom(probe, 1, 0) == -1;
    munmap(probe, page);
    return works;
  }();
  return known;
}

}  // namespace

std::atomic<size_t> StackStore::held_{0};
std::atomic<size_t> StackStore::made_{0};
std::atomic<bool> StackStore::wanted_{false};
std::atomic<size_t> StackStore::set_limit_{0};

StackStore::StackStore(size_t stack_bytes) : stack_bytes_(stack_bytes) {}
StackStore::~StackStore() = default;

void StackStore::set_limit(size_t stacks) { set_limit_.store(stacks); }

StackStore& StackStore::of(size_t stack_bytes) {
  static std::mutex mutex;
  static auto* stores = new std::vector<std::unique_ptr<StackStore>>;
  const size_t bytes = (stack_bytes + 4095) & ~size_t{4095};
  std::lock_guard hold(mutex);
  for (auto& store : *stores)
    if (store->stack_bytes_ == bytes) return *store;
  stores->push_back(std::unique_ptr<StackStore>(new StackStore(bytes)));
  return *stores->back();
}

size_t StackStore::limit() {
  static const size_t known = [] {
    size_t stacks = most_stacks;
    if (!has_cheap_guards()) {
      size_t maps = 65530;
      std::ifstream file("/proc/sys/vm/max_map_count");
      file >> maps;
      // Two mappings a stack; half of all mappings are left to the program.
      stacks = std::clamp(maps / 4, fewest_stacks, most_stacks);
    }
    return std::min(stacks, most_under_tsan);
  }();
  const size_t set = set_limit_.load(std::memory_order_relaxed);
  return set != 0 ? set : known;
}

bool StackStore::install_guards(unsigned char* base, size_t count) const {
  const size_t stride = stack_bytes_ + guard_bytes;
  for (size_t i = 0; i < count; ++i) {
    unsigned char* guard = base + i * stride;
    if (has_cheap_guards() && madvise(guard, guard_bytes, guard_install) == 0) continue;
    if (mprotect(guard, guard_bytes, PROT_NONE) != 0) return false;
  }
  return true;
}

bool StackStore::grow(size_t count) {
  if (made_.fetch_add(count) + count > limit()) {
    made_.fetch_sub(count);
    return false;
  }
  const size_t stride = stack_bytes_ + guard_bytes;
  void* memory = mmap(nullptr, stride * count, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  auto* base = static_cast<unsigned char*>(memory);
  if (memory == MAP_FAILED || !install_guards(base, count)) {
    if (memory != MAP_FAILED) munmap(memory, stride * count);
    made_.fetch_sub(count);
    return false;
  }
  slabs_.push_back(std::make_unique<Fiber[]>(count));
  // Downwards, so that they are handed out by ascending address.
  for (size_t i = count; i-- > 0;) {
    Fiber* fiber = &slabs_.back()[i];
    fiber->stack = base + i * stride + guard_bytes;
    free_.push_back(fiber);
  }
  return true;
}

bool StackStore::acquire(size_t count, std::vector<Fiber*>& out) {
  std::lock_guard hold(mutex_);
  if (free_.size() < count) {
    const size_t missing = count - free_.size();
    if (!grow(std::max<size_t>(missing, 16)) && !grow(missing)) return false;
  }
  out.insert(out.end(), free_.end() - static_cast<std::ptrdiff_t>(count), free_.end());
  free_.resize(free_.size() - count);
  held_.fetch_add(count, std::memory_order_relaxed);
  return true;
}

void StackStore::release(const std::vector<Fiber*>& fibers) {
  std::lock_guard hold(mutex_);
  free_.insert(free_.end(), fibers.begin(), fibers.end());
  held_.fetch_sub(fibers.size(), std::memory_order_relaxed);
}

}  // namespace limen::engine
