// Where a coordinate lands on an axis, and what a texel's integers stand for. Shared by all
// samplers, so that they give the same bits. Private to this room.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "engine/texture.h"

namespace limen::engine {

inline constexpr int32_t outside = -1;
inline constexpr int64_t one_weight = 256;

/// floor() without the C library; |x| is far below 2^62.
inline int64_t floor_of(double x) {
  const auto whole = static_cast<int64_t>(x);
  return whole - (static_cast<double>(whole) > x);
}

/// `of` / 256 of a weight, halves up. source: the H200's sums, tests/programs/texture_record.
inline int32_t part(int32_t weight, int32_t of) { return (weight * of + 128) >> 8; }

/// Weights of a 2x2 footprint that has `share` / 256 of the sum, at y * 2 + x: the share is split
/// by x, each half by y. The third axis and the second level have a share each.
inline void weigh(int32_t x, int32_t y, int32_t share, int32_t* out) {
  const auto one = static_cast<int32_t>(one_weight);
  const int32_t right = part(share, x), left = share - right;
  out[3] = part(right, y);
  out[1] = right - out[3];
  out[0] = part(left, one - y);
  out[2] = left - out[0];
}

/// The integer that stands for 1; 0: the format holds no normalized numbers.
constexpr int32_t top_of(TexelFormat format) {
  switch (format) {
    case TexelFormat::u8:
      return 255;
    case TexelFormat::s8:
      return 127;
    case TexelFormat::u16:
      return 65535;
    case TexelFormat::s16:
      return 32767;
    default:
      return 0;
  }
}

/// Keeps coordinates where integers hold them: NaN is 0.
inline double bounded(double x) {
  constexpr double most = 0x1p40;
  return x == x ? std::clamp(x, -most, most) : 0.0;
}

/// The texel of index `i` on an axis of `n`, or `outside` for the border.
inline int32_t resolve(int64_t i, uint32_t n, AddressMode mode) {
  const int64_t size = n;
  if (i >= 0 && i < size) return static_cast<int32_t>(i);
  switch (mode) {
    case AddressMode::wrap:
      return static_cast<int32_t>(((i % size) + size) % size);
    case AddressMode::mirror: {
      const int64_t at = ((i % (2 * size)) + 2 * size) % (2 * size);
      return static_cast<int32_t>(at < size ? at : 2 * size - 1 - at);
    }
    case AddressMode::border:
      return outside;
    default:
      return i < 0 ? 0 : static_cast<int32_t>(size - 1);
  }
}

/// x without its whole part; 0 where the format holds no fraction.
inline double fraction(double x) {
  return std::fabs(x) < 0x1p52 ? x - static_cast<double>(floor_of(x)) : 0.0;
}

/// The mode that counts: wrap and mirror need normalized coordinates.
/// source: CUDA C++ Programming Guide 13.0, "Texture Fetching".
inline AddressMode effective_mode(const Texture& t, uint32_t axis) {
  const AddressMode m = t.address[axis];
  const bool periodic = m == AddressMode::wrap || m == AddressMode::mirror;
  return periodic && (!t.normalized || t.cube) ? AddressMode::clamp : m;
}

/// A float coordinate in texels of an axis of `size`.
inline double position(double x, bool normalized, AddressMode mode, uint32_t size) {
  if (!normalized) return std::fabs(x) < 0x1p-126 ? 0 : bounded(x);
  const bool periodic = mode == AddressMode::wrap || mode == AddressMode::mirror;
  if (!std::isfinite(x)) x = x == x && !periodic ? std::copysign(0x1p39 / size, x) : 0.0;
  if (std::fabs(x) < 0x1p-126) return 0;
  // Periodic modes repeat first, so that far coordinates keep their fraction.
  if (mode == AddressMode::wrap)
    x = fraction(x);
  else if (mode == AddressMode::mirror)
    x = 2.0 * fraction(x / 2.0);
  // 21 bits of fraction, the rest cut off: measured on an H200.
  if (std::fabs(x) < 0x1p30) x = static_cast<double>(floor_of(x * 0x1p21)) * 0x1p-21;
  return bounded(x * size);
}

/// What a filter's sum counts in: 16-bit fixed point for 8 and 16 bit integers, else 0.
inline float filter_units(const Texture& t, uint32_t channel) {
  if (srgb_channel(t, channel)) return 0;
  switch (t.format) {
    case TexelFormat::u8:
    case TexelFormat::u16:
      return 65535;
    case TexelFormat::s8:
    case TexelFormat::s16:
      return 32767;
    default:
      return 0;
  }
}

/// A filtered value as the device writes it: halves away from zero, no denormals, one NaN.
inline uint32_t filtered_bits(double value, float units) {
  if (units != 0) return std::bit_cast<uint32_t>(static_cast<float>(floor_of(value + 0.5)) / units);
  if (value != value) return 0x7fffffffu;
  const uint64_t half = uint64_t{1} << 28;
  const uint64_t rounded = (std::bit_cast<uint64_t>(value) + half) & ~(2 * half - 1);
  const double kept = std::bit_cast<double>(rounded);
  if (std::fabs(kept) < 0x1p-126) return std::signbit(kept) ? 0x80000000u : 0;
  return std::bit_cast<uint32_t>(static_cast<float>(kept));
}

}  // namespace limen::engine
