// Address space for generated code: one reserved stretch, handed out by the page, so that
// everything of one object lies within reach of 32-bit relative addresses and unloading gives
// memory back. Private to this room. Invariant: pages outside live blocks are PROT_NONE and hold no
// memory.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace limen::image {

/// Pages of the slab, writable when taken. The guard page behind them is not counted.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  ~Block();  ///< gives the pages back

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

  /// errors: operating_system, for instance where a policy forbids code made at run time.
  Result<void> protect(size_t offset, size_t bytes, int protection);

 private:
  friend Result<Block> take_block(size_t bytes);
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

/// Takes `bytes`, rounded up to pages, readable and writable, all zero.
/// thread: any; short lock. errors: out_of_memory, operating_system.
Result<Block> take_block(size_t bytes);

size_t page_size();

/// For tests and `limen doctor`: bytes in live blocks, guard pages included.
size_t slab_bytes_in_use();

}  // namespace limen::image
