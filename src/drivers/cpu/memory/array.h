// CUDA arrays and mipmapped arrays: texels in rows of a pitch of our own, slice after slice; layers
// and cube faces are slices. Invariant: an array's texels are one block of its device's allocator;
// a level of a mipmapped array borrows its parent's. Thread rule: any thread; immutable once made.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "abi/cuda_abi.h"
#include "engine/texture.h"

namespace limen::cpu {

struct Context;
struct MipmappedArray;

/// How texels of a CUarray_format look.
struct TexelLayout {
  engine::TexelFormat format = engine::TexelFormat::u8;
  uint8_t channels = 1;
  bool normalized = false;  ///< read as [0, 1] or [-1, 1] whatever the texture says
  uint32_t bytes() const { return engine::channel_bytes(format) * channels; }
};
/// errors: CUDA_ERROR_INVALID_VALUE; CUDA_ERROR_NOT_SUPPORTED for block-compressed and video
/// formats.
CUresult layout_of(CUarray_format format, unsigned channels, TexelLayout* out);

struct Array {
  uint32_t owner = 0;
  CUDA_ARRAY3D_DESCRIPTOR desc{};  ///< as asked for; a level: with its own size
  TexelLayout texels;
  engine::Image image;
  uint64_t memory = 0;  ///< the block; 0 for a level
  MipmappedArray* parent = nullptr;

  bool layered() const { return desc.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP); }
  bool cube() const { return desc.Flags & CUDA_ARRAY3D_CUBEMAP; }
  uint64_t row_bytes() const { return uint64_t{image.width} * texels.bytes(); }
};

struct MipmappedArray {
  uint32_t owner = 0;
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  uint64_t memory = 0;
  std::vector<Array*> levels;
};

/// The live array of a live context, or nullptr.
Array* array_of(CUarray handle);
MipmappedArray* mipmapped_array_of(CUmipmappedArray handle);

/// Destroys what a context that ends leaves behind; the memory goes with the context's.
void forget_arrays(uint32_t owner);

}  // namespace limen::cpu
