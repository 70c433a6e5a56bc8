// Where a coordinate lands on an axis. Shared by the general fetch and the plain one, so that both
// give the same bits. Private to this room.
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
  if (!normalized) return bounded(x);
  const bool periodic = mode == AddressMode::wrap || mode == AddressMode::mirror;
  if (!std::isfinite(x)) x = x == x && !periodic ? std::copysign(0x1p39 / size, x) : 0.0;
  // Periodic modes repeat first, so that far coordinates keep their fraction.
  if (mode == AddressMode::wrap)
    x = fraction(x);
  else if (mode == AddressMode::mirror)
    x = 2.0 * fraction(x / 2.0);
  return bounded(x * size);
}

/// A filtered value as the device writes it: one NaN.
inline uint32_t filtered_bits(double value) {
  return value == value ? std::bit_cast<uint32_t>(static_cast<float>(value)) : 0x7fffffffu;
}

}  // namespace limen::engine
