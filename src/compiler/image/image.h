// From a compiled object to runnable code, without LLVM: an ELF relocatable loader over one
// reserved slab (small code model), and the disk cache of compiled kernels.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "devlib/kernel_abi.h"

namespace limen::image {

/// Machine code in memory; freed with the last reference.
class Code {
 public:
  virtual ~Code() = default;
  virtual const void* entry() const = 0;  ///< symbol "limen_kernel"
  virtual const void* begin() const = 0;
  virtual const void* end() const = 0;
};

/// Maps an ELF relocatable object. Unknown sections, relocations or external symbols other than the
/// listed ones (memcpy, memmove, memset) are errors that name them.
Result<std::shared_ptr<Code>> load_object(const std::vector<uint8_t>& object, const std::string& name);

struct CacheEntry {
  kernel::KernelMeta meta{};
  std::string notes;
  std::vector<uint8_t> object;
};

/// Content-addressed directory; safe under concurrent processes; damaged entries are ignored and
/// replaced; bounded in size (oldest use goes first).
class DiskCache {
 public:
  DiskCache(std::string directory, uint64_t max_bytes);
  std::optional<CacheEntry> find(const std::string& key) const;
  void store(const std::string& key, const CacheEntry& entry) const;

 private:
  std::string directory_;
  uint64_t max_bytes_;
};

/// 128-bit content hash of `bytes` as 32 hex digits.
std::string content_hash(const void* bytes, size_t size);

}  // namespace limen::image
