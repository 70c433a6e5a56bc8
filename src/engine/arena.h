// Arena: one growing piece of anonymous memory between two guard areas, for shared memory, local
// memory and slots of a running block. Contents are not cleared between uses.
// Invariant: the byte after the part handed out, rounded up to the alignment, is in a guard page,
// so a kernel that runs past its memory faults instead of reading a neighbour's.
// Thread rule: owned by one worker.
#pragma once
#include <cstddef>
#include <cstdint>

namespace limen::engine {

class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns memory of `bytes` bytes, aligned to `alignment` (a power of two up to the page size),
  /// ending at the guard; nullptr when the system has no more. Earlier contents may be lost.
  uint8_t* get(size_t bytes, size_t alignment);
  /// Gives memory beyond `keep_bytes` back to the system.
  void trim(size_t keep_bytes);

 private:
  void release();
  uint8_t* base_ = nullptr;  // start of the mapping, guards included
  size_t capacity_ = 0;      // usable bytes between the guards
};

}  // namespace limen::engine
