// Where an image's bytes come from: memory of known extent, or this process's address space read
// without the risk of a fault. Private to this room.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace limen::fatbin {

class Source {
 public:
  virtual ~Source() = default;
  /// Copies `size` bytes at `address`; false if any of them cannot be read.
  virtual bool read(uint64_t address, void* to, size_t size) const = 0;
  /// Copies up to `size` bytes, stopping where memory ends; returns how many.
  virtual size_t read_some(uint64_t address, void* to, size_t size) const = 0;
  /// Whether addresses are real pointers of this process.
  virtual bool is_process() const = 0;
};

/// Addresses are offsets from `data`.
std::shared_ptr<const Source> known_memory(const void* data, size_t size);
std::shared_ptr<const Source> owned_memory(std::shared_ptr<const std::vector<uint8_t>> bytes);
/// Addresses are pointers of this process.
std::shared_ptr<const Source> process_memory();
/// The same by the slower way that works in every sandbox; process_memory() falls back on it.
std::shared_ptr<const Source> process_memory_through_pipe();

}  // namespace limen::fatbin
