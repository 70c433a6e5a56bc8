// Half precision on the host, for the peers that have no type for it: the same conversion from
// float (to nearest, ties to even) in every peer, so that all start from the same bits. Normal
// numbers and zero only: that is what the benchmarks hold.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

namespace bench {

inline uint16_t half_of(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  if (size < 113u << 23) return static_cast<uint16_t>(sign);  // below the normal halves
  size += 0xfffu + (size >> 13 & 1u);
  return static_cast<uint16_t>(sign | (size - (112u << 23)) >> 13);
}

inline float float_of(uint16_t half) {
  uint32_t sign = (half & 0x8000u) << 16, size = half & 0x7fffu;
  uint32_t bits = sign | (size < 0x400u ? 0 : (size << 13) + (112u << 23));
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline std::vector<uint16_t> halves_of(const std::vector<float>& values) {
  std::vector<uint16_t> out(values.size());
  for (size_t i = 0; i < values.size(); ++i) out[i] = half_of(values[i]);
  return out;
}

inline std::vector<float> floats_of(const std::vector<uint16_t>& halves) {
  std::vector<float> out(halves.size());
  for (size_t i = 0; i < halves.size(); ++i) out[i] = float_of(halves[i]);
  return out;
}

}  // namespace bench
