// CUDA arrays and mipmapped arrays: texels in rows of a pitch of our own, slice after slice; layers
// and cube faces are slices. Invariant: an array's texels are one block of its device's allocator
// (a sparse or deferred array's: where its table says, sparse.h); a level of a mipmapped array
// borrows its parent's. Thread rule: any thread; immutable once made.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "abi/cuda_abi.h"
#include "engine/texture.h"

namespace limen::cpu {

struct Context;
struct MipmappedArray;
struct TileStore;

inline constexpr uint64_t level_align_bytes = 512;

/// How texels of a CUarray_format look.
struct TexelLayout {
  engine::TexelFormat format = engine::TexelFormat::u8;
  uint8_t channels = 1;
  bool normalized = false;  ///< read as [0, 1] or [-1, 1] whatever the texture says
  uint32_t bytes() const { return engine::channel_bytes(format) * channels; }
};
/// errors: CUDA_ERROR_INVALID_VALUE, also for what has planes; CUDA_ERROR_NOT_SUPPORTED for
/// block-compressed and 10-bit packed formats.
CUresult layout_of(CUarray_format format, unsigned channels, TexelLayout* out);

/// One plane of a multi-planar format: an array of its own, perhaps of fewer texels.
struct PlaneShape {
  CUarray_format format;
  unsigned channels;
  uint8_t width_shift, height_shift;  ///< of its size to the array's
};
/// Empty for formats without planes.
std::span<const PlaneShape> planes_of(CUarray_format format);

struct Array {
  uint32_t owner = 0;
  CUDA_ARRAY3D_DESCRIPTOR desc{};  ///< as asked for; a level: with its own size
  TexelLayout texels;
  engine::Image image;
  uint64_t memory = 0;               ///< the block; 0 for a level
  std::shared_ptr<TileStore> tiles;  ///< of sparse and deferred arrays; a level: its parent's
  MipmappedArray* parent = nullptr;
  Array* whole = nullptr;      ///< a plane: the array that it is one of
  std::vector<Array*> planes;  ///< of a multi-planar format: the texels are theirs

  bool layered() const { return desc.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP); }
  bool cube() const { return desc.Flags & CUDA_ARRAY3D_CUBEMAP; }
  uint64_t row_bytes() const { return uint64_t{image.width} * texels.bytes(); }
};

struct MipmappedArray {
  uint32_t owner = 0;
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  uint64_t memory = 0;
  std::shared_ptr<TileStore> tiles;
  std::vector<Array*> levels;
};

/// The shape of one level as arrays lie that are not sparse; its base is missing.
engine::Image image_of(const CUDA_ARRAY3D_DESCRIPTOR& level, uint32_t texel_bytes);

/// The live array of a live context, or nullptr.
Array* array_of(CUarray handle);
/// The same where it has texels of its own: all but those that have planes.
Array* texels_of(CUarray handle);
MipmappedArray* mipmapped_array_of(CUmipmappedArray handle);

/// Destroys what a context that ends leaves behind; the memory goes with the context's.
void forget_arrays(uint32_t owner);

}  // namespace limen::cpu
