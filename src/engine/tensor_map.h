// What a CUtensorMap holds on this device: the driver fills it, kernels hand over its address.
// NVIDIA keeps the 128 bytes opaque; these are our own. `magic` and `check` tell a map from any
// other 128 bytes, so that a kernel that hands over something else gets a fault with a name.
// Thread rule: plain data. Design: docs/design/tensor_maps.md.
#pragma once
#include <cstdint>
#include <cstring>

namespace limen::engine {

/// Values of CUtensorMapDataType.
enum class TensorType : uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  u4_packed,  ///< 16 values in 8 bytes, also in shared memory
  u4_padded,  ///< 16 values in 8 bytes, in 16 of shared memory
  u6_padded,  ///< 16 values in 12 bytes, in 16 of shared memory
  count_,
};
/// Values of CUtensorMapInterleave.
enum class TensorInterleave : uint8_t { none, bytes16, bytes32, count_ };
/// Values of CUtensorMapSwizzle.
enum class TensorSwizzle : uint8_t {
  none,
  span32,
  span64,
  span128,
  span128_atom32,
  span128_atom32_flip8,
  span128_atom64,
  count_,
};
/// `wide` walks along W only, as cuTensorMapEncodeIm2colWide asks.
enum class TensorKind : uint8_t { tiled, im2col, wide, wide128, count_ };

inline constexpr uint32_t tensor_most_rank = 5;

struct TensorMap {
  uint32_t magic;
  uint32_t check;  ///< over all other bytes
  uint64_t address;
  uint64_t stride[4];  ///< bytes, of dimensions 1 to 4
  uint32_t last[5];    ///< size less one, by dimension
  uint16_t box[5];     ///< tiled: elements traversed, by dimension
  uint8_t step[5];     ///< traversal stride
  uint8_t rank;
  TensorKind kind;
  TensorType type;
  TensorInterleave interleave;
  TensorSwizzle swizzle;
  uint8_t nan_fill;      ///< out of bounds: 0 zeros, 1 NaNs
  uint8_t l2_promotion;  ///< a hint, kept only
  int16_t lower[3];      ///< im2col: corners of the bounding box, W H D
  int16_t upper[3];
  uint16_t channels, pixels;
  uint8_t replaced;   ///< fields come from a kernel, which no encoder has checked
  uint8_t atomicity;  ///< as tensormap.replace counts it; in `swizzle` too where that has atoms
  uint8_t unused[20];

  int64_t size(uint32_t dimension) const { return int64_t{last[dimension]} + 1; }
};
static_assert(sizeof(TensorMap) == 128);

inline constexpr uint32_t tensor_map_magic = 0x70614d54;  // "TMap"

inline uint32_t tensor_map_check(const TensorMap& map) {
  TensorMap copy = map;
  copy.check = 0;
  uint64_t words[16], sum = 0x9e3779b97f4a7c15u;
  std::memcpy(words, &copy, sizeof words);
  for (uint64_t word : words) sum = (sum ^ word) * 0xff51afd7ed558ccdu + (sum >> 29);
  return static_cast<uint32_t>(sum >> 32);
}
inline void seal(TensorMap* map) {
  map->magic = tensor_map_magic;
  map->check = tensor_map_check(*map);
}
inline bool is_tensor_map(const TensorMap& map) {
  return map.magic == tensor_map_magic && map.check == tensor_map_check(map);
}

constexpr bool is_padded(TensorType type) {
  return type == TensorType::u4_padded || type == TensorType::u6_padded;
}
/// Bits of an element in global memory.
constexpr uint32_t bits_of(TensorType type) {
  switch (type) {
    case TensorType::u8:
      return 8;
    case TensorType::u16:
    case TensorType::f16:
    case TensorType::bf16:
      return 16;
    case TensorType::u64:
    case TensorType::s64:
    case TensorType::f64:
      return 64;
    case TensorType::u4_packed:
    case TensorType::u4_padded:
      return 4;
    case TensorType::u6_padded:
      return 6;
    default:
      return 32;
  }
}
constexpr bool is_real(TensorType type) {
  return type >= TensorType::f16 && type <= TensorType::tf32_ftz;
}
/// The alignment of the address and of the strides.
constexpr uint64_t alignment_of(const TensorMap& map) {
  return map.interleave == TensorInterleave::bytes32 || is_padded(map.type) ? 32 : 16;
}
/// Bytes within which the swizzle exchanges places; 0 without a swizzle.
constexpr uint32_t span_of(TensorSwizzle swizzle) {
  return swizzle == TensorSwizzle::none     ? 0
         : swizzle == TensorSwizzle::span32 ? 32
         : swizzle == TensorSwizzle::span64 ? 64
                                            : 128;
}
constexpr uint32_t bytes_of(TensorInterleave interleave) {
  return interleave == TensorInterleave::none      ? 0
         : interleave == TensorInterleave::bytes16 ? 16
                                                   : 32;
}
/// `count` elements along dimension 0: of a box, or a pixel's channels.
constexpr bool fits_row(const TensorMap& map, uint32_t count) {
  if (is_padded(map.type) && count != 128) return false;
  const uint64_t bits = uint64_t{count} * bits_of(map.type);
  if (bits % (16 * 8) != 0) return false;
  if (map.interleave != TensorInterleave::none) return true;
  const uint64_t bytes = is_padded(map.type) ? count : bits / 8;
  const uint32_t span = span_of(map.swizzle);
  return span == 0 || bytes <= span;
}

}  // namespace limen::engine
