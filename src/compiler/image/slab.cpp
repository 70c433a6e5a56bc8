// The slab: reserved once (PROT_NONE, no swap accounted), further slabs only when it is full. Free
// pages are kept as a sorted map of runs that merge with their neighbours; first fit from the
// bottom keeps the code dense. Freed pages are mapped anew over themselves: one call drops the
// memory and the permissions. Lock: State::mutex, held for the map only and for no system call but
// the reservation's.
#include "compiler/image/slab.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace limen::image {
namespace {

// 1 GiB holds tens of thousands of kernels; smaller ones serve under `ulimit -v`.
constexpr size_t slab_sizes[] = {size_t{1} << 30, size_t{1} << 28, size_t{1} << 26,
                                 size_t{1} << 24};
constexpr size_t max_block_bytes = size_t{1} << 29;

struct State {
  std::mutex mutex;
  std::map<uintptr_t, size_t> free_runs;
  size_t in_use = 0;
};

State& state() {
  // Leaked: kernels may be unloaded after static destructors have run.
  static auto* one = new State;
  return *one;
}

/// Reserves a slab that holds at least `bytes` and adds it to the free runs. Mutex held.
bool reserve(State& s, size_t bytes) {
  for (size_t size : slab_sizes) {
    if (size < bytes) break;
    void* at = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    s.free_runs.emplace(reinterpret_cast<uintptr_t>(at), size);
    return true;
  }
  return false;
}

/// Cuts `bytes` off the first run that has them; 0 if none has. Mutex held.
uintptr_t cut(State& s, size_t bytes) {
  for (auto run = s.free_runs.begin(); run != s.free_runs.end(); ++run) {
    auto [begin, size] = *run;
    if (size < bytes) continue;
    s.free_runs.erase(run);
    if (size > bytes) s.free_runs.emplace(begin + bytes, size - bytes);
    s.in_use += bytes;
    return begin;
  }
  return 0;
}

/// Returns a run, merged with free neighbours. Two slabs that happen to touch may merge; that is
/// harmless, since they are alike. Mutex held.
void put_back(State& s, uintptr_t begin, size_t bytes) {
  s.in_use -= bytes;
  auto next = s.free_runs.lower_bound(begin);
  if (next != s.free_runs.end() && next->first == begin + bytes) {
    bytes += next->second;
    next = s.free_runs.erase(next);
  }
  if (next != s.free_runs.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += bytes;
      return;
    }
  }
  s.free_runs.emplace(begin, bytes);
}

}  // namespace

size_t page_size() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

size_t slab_bytes_in_use() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.in_use;
}

Block::Block(Block&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Block& Block::operator=(Block&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Block::~Block() {
  if (data_ == nullptr) return;
  void* fresh =
      mmap(data_, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (fresh == MAP_FAILED) return;  // out of mappings: the pages stay taken, which is safe
  State& s = state();
  std::lock_guard lock(s.mutex);
  put_back(s, reinterpret_cast<uintptr_t>(data_), size_ + page_size());
}

Result<void> Block::protect(size_t offset, size_t bytes, int protection) {
  if (bytes == 0) return {};
  if (mprotect(data_ + offset, bytes, protection) == 0) return {};
  int why = errno;
  return Error{limen::Code::operating_system,
               fmt::format("mprotect of {} bytes of generated code to {}{}{} failed: {}", bytes,
                           protection & PROT_READ ? "r" : "-", protection & PROT_WRITE ? "w" : "-",
                           protection & PROT_EXEC ? "x" : "-", std::strerror(why)),
               "allow this process to make memory executable"};
}

Result<Block> take_block(size_t bytes) {
  const size_t page = page_size();
  if (bytes == 0 || bytes > max_block_bytes)
    return Error{
        limen::Code::out_of_memory,
        fmt::format("generated code of {} bytes, expected 1 to {}", bytes, max_block_bytes),
        {}};
  bytes = (bytes + page - 1) & ~(page - 1);
  uintptr_t at = 0;
  State& s = state();
  {
    std::lock_guard lock(s.mutex);
    at = cut(s, bytes + page);
    if (at == 0 && reserve(s, bytes + page)) at = cut(s, bytes + page);
  }
  if (at == 0)
    return Error{limen::Code::out_of_memory,
                 fmt::format("no address space for {} bytes of generated code", bytes),
                 "raise the limit of virtual memory (ulimit -v)"};
  Block block;
  block.data_ = reinterpret_cast<uint8_t*>(at);
  block.size_ = bytes;
  if (mprotect(block.data_, bytes, PROT_READ | PROT_WRITE) != 0)
    return Error{limen::Code::out_of_memory,
                 fmt::format("{} bytes for generated code: {}", bytes, std::strerror(errno)),
                 {}};
  return block;
}

}  // namespace limen::image
