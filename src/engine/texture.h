// Textures and surfaces as kernels see them: images in memory, how to read them, and the table that
// gives handles a meaning. Knows nothing of CUDA arrays, contexts or who owns the memory.
// Invariant: a handle is a slot number and the slot's generation, so any 64 bits can be looked up
// without a fault, and a stale handle is refused. Slots are never unmapped, and what a live handle
// means does not change: references get their meaning from the bindings that a grid is launched
// with. Thread rule: find() from any thread without a lock; the rest takes a short lock.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "devlib/kernel_abi.h"

namespace limen::engine {

enum class TexelFormat : uint8_t { u8, u16, u32, s8, s16, s32, f16, f32 };
enum class AddressMode : uint8_t { wrap, clamp, mirror, border };

/// Bytes of one channel.
constexpr uint32_t channel_bytes(TexelFormat format) {
  switch (format) {
    case TexelFormat::u8:
    case TexelFormat::s8:
      return 1;
    case TexelFormat::u16:
    case TexelFormat::s16:
    case TexelFormat::f16:
      return 2;
    default:
      return 4;
  }
}

/// Where the texels of a sparse level lie: in pieces of 64 KiB, each somewhere or nowhere. What
/// lies nowhere reads as zeros, and stores to it vanish. A piece is a tile of the level, or
/// (`linear`) one of a row of bytes that holds the level as other arrays lie: a mip tail, a
/// deferred array.
struct TileMap {
  static constexpr uint32_t piece_bytes = 64 << 10;
  /// The most bytes of a texel, all 0: what is read where nothing is mapped.
  static constexpr uint64_t nothing[2] = {0, 0};

  uint8_t** pieces = nullptr;  ///< null: not mapped. Changed by the driver while kernels read.
  bool linear = false;
  uint8_t row_shift = 0, height_shift = 0, depth_shift = 0;  ///< of a tile: bytes, rows, slices
  uint32_t columns = 0, rows = 0;                            ///< of tiles
  uint64_t first = 0, pitch = 0, slice = 0;                  ///< of linear ones, bytes

  /// Where byte `x` of a row lies, or nullptr; `run`: so many bytes follow in the same place.
  uint8_t* at(uint64_t x, uint64_t y, uint64_t z, uint64_t* run = nullptr) const {
    uint64_t piece, offset, follow;
    if (linear) {
      const uint64_t where = first + z * slice + y * pitch + x;
      piece = where / piece_bytes;
      offset = where % piece_bytes;
      follow = piece_bytes - offset;
    } else {
      auto low = [](uint64_t value, uint32_t shift) {
        return value & ((uint64_t{1} << shift) - 1);
      };
      piece = ((z >> depth_shift) * rows + (y >> height_shift)) * columns + (x >> row_shift);
      offset = (((low(z, depth_shift) << height_shift) + low(y, height_shift)) << row_shift) +
               low(x, row_shift);
      follow = (uint64_t{1} << row_shift) - low(x, row_shift);
    }
    if (run) *run = follow;
    uint8_t* there = __atomic_load_n(pieces + piece, __ATOMIC_ACQUIRE);
    return there ? there + offset : nullptr;
  }
  const void* texel(uint64_t x, uint64_t y, uint64_t z) const {
    const uint8_t* there = at(x, y, z);
    return there ? static_cast<const void*>(there) : nothing;
  }
};

/// One level: `depth` slices (3D) or layers (arrays; 6 a cube).
struct Image {
  uint64_t base = 0;   ///< host address
  uint64_t pitch = 0;  ///< bytes from row to row
  uint64_t slice = 0;  ///< bytes from slice to slice
  uint32_t width = 1, height = 1, depth = 1;
  uint32_t first_slice = 0;        ///< of `tiles`, where a view begins
  const TileMap* tiles = nullptr;  ///< set: the texels lie there, not at `base`
};

struct LaneJob;

/// How eight lanes at a time read a texture (texture_lanes.h): what needs no coordinates, worked
/// out once when a handle gets its meaning.
struct LanePlan {
  void (*read)(const LaneJob&) = nullptr;  ///< null: lane by lane
  /// Places lanes on an axis; returns those that are left to the scalar samplers.
  uint32_t (*place[3])(const LaneJob&, uint32_t axis, const uint32_t* in) = {};
  kernel::TextureGeometry geometry = kernel::TextureGeometry::d1;  ///< of the fetches it does
  uint8_t flags = 0;                                               ///< TextureOp::flags of them
  uint8_t dims = 1;
  uint32_t size[3] = {}, stride[3] = {};  ///< texels, and bytes from one to the next
  uint32_t layers = 0, layer_bytes = 0;   ///< 0: not layered
  uint32_t border = 0;                    ///< bit per axis that ends in the border
  int32_t border_raw[4] = {};  ///< in the numbers of `read`: a result's bits, or what it sums up
  int32_t last_word = -1;      ///< where the image's last 4 bytes begin, if it has so many
};

struct Texture {
  enum class Kind : uint8_t {
    unbound_texture,  ///< a texture reference that nothing is bound to
    unbound_surface,
    texture,
    surface,
  };
  static constexpr uint32_t most_levels = 18;  ///< 2^17 texels is the widest array

  Kind kind = Kind::unbound_texture;
  bool reference = false;  ///< a .texref or .surfref variable, not an object
  TexelFormat format = TexelFormat::u8;
  uint8_t channels = 1;
  bool reads_integer = false;  ///< else 8 and 16 bit integers become [0, 1] or [-1, 1]
  bool normalized = false;     ///< coordinates are in [0, 1)
  bool srgb = false;
  bool linear = false;      ///< between texels
  bool mip_linear = false;  ///< between levels
  bool anisotropic = false;
  bool seamless = false;  ///< cubes: filter across faces
  bool layered = false;   ///< depth counts layers
  bool cube = false;
  bool buffer = false;  ///< linear memory: reads outside give 0
  uint8_t dims = 2;     ///< axes of the memory, layers and faces not counted; a buffer has 1
  AddressMode address[3] = {AddressMode::wrap, AddressMode::wrap, AddressMode::wrap};
  float border[4] = {};
  float lod_bias = 0, lod_min = 0, lod_max = 0;
  uint32_t level_count = 1;
  Image levels[most_levels];
  LanePlan plan;  ///< by plan_lanes(), when all else is set

  uint32_t texel_bytes() const { return channel_bytes(format) * channels; }
  bool integer() const {
    return reads_integer || format == TexelFormat::u32 || format == TexelFormat::s32;
  }
};

/// Whether a channel is sRGB: not the second of two and not the fourth (measured on an H200).
constexpr bool srgb_channel(const Texture& t, uint32_t channel) {
  return t.srgb && channel < 3 && !(t.channels == 2 && channel == 1);
}

class TextureTable {
 public:
  /// A new handle; 0 when the table is full. Never 0 otherwise.
  uint64_t add(const Texture& texture);
  bool remove(uint64_t handle);
  /// What a handle means, or nullptr.
  const Texture* find(uint64_t handle) const {
    const uint64_t index = handle & index_mask;
    const Slot* slots = slots_.load(std::memory_order_acquire);
    if (handle == 0 || index >= used_.load(std::memory_order_acquire)) return nullptr;
    return slots[index].handle.load(std::memory_order_acquire) == handle ? &slots[index].texture
                                                                         : nullptr;
  }

 private:
  static constexpr uint64_t index_bits = 20, index_mask = (uint64_t{1} << index_bits) - 1;
  /// A freed slot is used again only after this many others.
  static constexpr size_t quarantine = 1024;
  struct Slot {
    std::atomic<uint64_t> handle{0};
    uint64_t generation = 0;
    Texture texture;
  };
  Slot* slot_of(uint64_t handle);

  std::mutex mutex_;
  std::atomic<Slot*> slots_{nullptr};
  std::atomic<uint64_t> used_{0};
  std::deque<uint64_t> free_;
};

/// What texture and surface references mean, by handle. Immutable once a grid has it.
struct TextureBindings {
  void set(uint64_t handle, const Texture& texture);
  std::unordered_map<uint64_t, Texture> by_handle;
};

/// What handles mean to one grid. Either may be null.
struct TextureView {
  const TextureTable* table = nullptr;
  const TextureBindings* bindings = nullptr;

  const Texture* find(uint64_t handle) const {
    const Texture* texture = table ? table->find(handle) : nullptr;
    if (!texture || !texture->reference || !bindings) return texture;
    auto bound = bindings->by_handle.find(handle);
    return bound == bindings->by_handle.end() ? texture : &bound->second;
  }
};

}  // namespace limen::engine
