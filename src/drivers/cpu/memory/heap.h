// DeviceHeap: the kernels' malloc and free. One region of device memory, made at first use with the
// size of CU_LIMIT_MALLOC_HEAP_SIZE; best fit, free neighbours are merged.
// Its blocks cannot be freed by cuMemFree, as on NVIDIA's driver.
// Invariant: free and live blocks tile the region. Thread rule: any worker; one lock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

namespace limen::cpu {

class Allocator;

class DeviceHeap {
 public:
  static constexpr size_t default_limit_bytes = 8 << 20;  ///< CUDA C++ Programming Guide, heap

  void bind(Allocator* memory, uint32_t owner);
  /// Address of `bytes` bytes, 16-byte aligned; 0 when the heap is full.
  uint64_t allocate(uint64_t bytes);
  /// False: not the address of a live block.
  bool release(uint64_t address);
  size_t limit_bytes() const { return limit_; }
  /// False once the region exists: its size is fixed from then on.
  bool set_limit(size_t bytes);
  /// Forgets everything; the region itself goes with the context's memory.
  void reset();

 private:
  static constexpr uint64_t grain_bytes = 16;

  Allocator* memory_ = nullptr;
  uint32_t owner_ = 0;
  size_t limit_ = default_limit_bytes;
  std::mutex mutex_;
  uint64_t base_ = 0;
  std::map<uint64_t, uint64_t> free_;                ///< offset -> bytes
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  ///< (bytes, offset), for best fit
  std::unordered_map<uint64_t, uint64_t> live_;      ///< offset -> bytes

  bool make_region();
  void add_free(uint64_t offset, uint64_t bytes);
  void drop_free(std::map<uint64_t, uint64_t>::iterator block);
};

}  // namespace limen::cpu
