// SharedFile: memory without a name in any file system (memfd) that may be mapped more than once
// and handed to other processes by file descriptor. It goes when its last descriptor and mapping
// go, also after kill -9. Knows nothing of CUDA. Invariant: the size never changes (sealed), so a
// mapping of ours cannot be pulled away by whoever else holds a descriptor.
// Thread rule: immutable once made. docs: design/memory_sharing.md
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "drivers/cpu/memory/address_space.h"

namespace limen::cpu {

class SharedFile {
 public:
  /// A new file of zeros; nullptr, with a log line, when the system refuses.
  static std::shared_ptr<SharedFile> create(const char* what, uint64_t bytes);
  /// Takes over a descriptor that came from elsewhere; nullptr when it cannot be mapped or holds
  /// fewer than `least_bytes`. The descriptor stays the caller's then.
  static std::shared_ptr<SharedFile> adopt(int descriptor, uint64_t least_bytes);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  int descriptor() const { return descriptor_; }
  uint64_t bytes() const { return bytes_; }
  /// Leaves the descriptor open, to whom it belonged. For who adopted it in vain.
  void disown() { descriptor_ = -1; }
  /// A descriptor of its own for whoever asked; -1 when there are too many.
  int duplicate() const;
  /// Maps a part at a fixed address. `protection`: PROT_*.
  bool map(uint64_t address, uint64_t bytes, uint64_t offset, int protection) const;
  /// Gives a part's memory back to the system; it reads as zeros afterwards.
  void discard(uint64_t offset, uint64_t bytes) const;
  bool read(uint64_t offset, void* data, uint64_t bytes) const;
  bool write(uint64_t offset, const void* data, uint64_t bytes) const;

 private:
  SharedFile(int descriptor, uint64_t bytes) : descriptor_(descriptor), bytes_(bytes) {}
  int descriptor_;
  uint64_t bytes_;
};

/// Parts of one shared file for memory that nobody exports: thousands of allocations, one
/// descriptor. Thread rule: any thread; one short lock.
class FileParts {
 public:
  /// Offset of a free part; false when the file cannot be made or is full.
  bool take(uint64_t bytes, std::shared_ptr<SharedFile>* file, uint64_t* offset);
  void give_back(uint64_t offset, uint64_t bytes);

 private:
  std::mutex mutex_;
  std::shared_ptr<SharedFile> file_;
  std::map<uint64_t, uint64_t> free_;  ///< offset -> bytes
};

}  // namespace limen::cpu
