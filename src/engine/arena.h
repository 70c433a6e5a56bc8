// Arena: one growing piece of anonymous memory between two guard areas, for shared memory, local
// memory and slots of a running block. Contents are not cleared between uses.
// Invariant: the byte after the part handed out, rounded up to the alignment, is in a guard page,
// so a kernel that runs past its memory faults instead of reading a neighbour's.
// Thread rule: owned by one worker.
#pragma once
#include <cstddef>
#include <cstdint>

namespace limen::engine {

/// Guard of a shared memory window: every 32-bit offset from its base, also read as signed, lies in
/// the window or in the guard, so a stray shared address faults and never reaches the host's
/// memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr size_t shared_guard_bytes = size_t{64} << 20;
#else
inline constexpr size_t shared_guard_bytes = size_t{4} << 30;
#endif

class Arena {
 public:
  /// `guard_bytes` on either side; less where the address space has no room for that much.
  explicit Arena(size_t guard_bytes = 64 * 1024) : guard_bytes_(guard_bytes) {}
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
  size_t guard_bytes_;       // wanted, and had once there is a mapping
  uint8_t* base_ = nullptr;  // start of the mapping, guards included
  size_t capacity_ = 0;      // usable bytes between the guards
};

/// The shared memory of the blocks of a cluster: one window of equal parts, a block's bytes at the
/// start of its part. What lies between them faults.
class ClusterWindow {
 public:
  ClusterWindow() = default;
  ~ClusterWindow();
  ClusterWindow(const ClusterWindow&) = delete;
  ClusterWindow& operator=(const ClusterWindow&) = delete;

  /// Memory for `blocks` blocks of `bytes` bytes, each aligned to `alignment` (a power of two up to
  /// the page size) and ending at inaccessible pages; nullptr when the system has no more. Earlier
  /// contents may be lost.
  uint8_t* get(uint32_t blocks, size_t bytes, size_t alignment);

 private:
  void release();
  uint8_t* base_ = nullptr;  // start of the mapping, guards included
  size_t mapped_ = 0;
  size_t guard_bytes_ = 0;
  uint32_t blocks_ = 0;
  size_t capacity_ = 0;  // usable bytes a block, whole pages
};

}  // namespace limen::engine
