// Transfer: moving and filling bytes. Large moves are shared with the workers that are free.
// Knows nothing of streams; the caller has checked the ranges.
// Thread rule: run() may be called on any thread; it returns when all is done.
#pragma once
#include <cstdint>

#include "engine/engine.h"
#include "engine/texture.h"

namespace limen::cpu {

/// `depth` slices of `height` rows of `width` bytes.
struct Transfer {
  uint64_t dst = 0, src = 0;
  uint64_t width = 0, height = 1, depth = 1;
  uint64_t dst_pitch = 0, src_pitch = 0;  ///< bytes from row to row
  uint64_t dst_slice = 0, src_slice = 0;  ///< bytes from slice to slice
  /// Set: that side is a sparse array's, and address, pitch and slice are the box's first x
  /// (bytes), y and z in it.
  const engine::TileMap *dst_tiles = nullptr, *src_tiles = nullptr;

  uint64_t bytes() const { return width * height * depth; }
  void run(engine::Pool* helpers) const;
};

/// A pattern of 1, 2 or 4 bytes repeated over `height` rows of `width` elements.
struct Fill {
  uint64_t dst = 0, width = 0, height = 1, pitch = 0;
  uint32_t value = 0, element_bytes = 1;

  uint64_t bytes() const { return width * element_bytes * height; }
  void run(engine::Pool* helpers) const;
};

/// Below this a copy or fill is done by whoever comes by instead of being handed to a worker.
inline constexpr uint64_t quick_transfer_bytes = 64 << 10;

}  // namespace limen::cpu
