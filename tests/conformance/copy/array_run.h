// An array of 16 x 8 floats that hold their number, and single texels of it. Thread rule: as
// conform.h.
#pragma once
#include "conformance/memory/array_case.h"

namespace limen::conform {

inline CUarray numbered_array() {
  CUarray array = plain_array(16, 8);
  float values[128];
  for (int i = 0; i < 128; ++i) values[i] = static_cast<float>(i);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values;
  copy.srcPitch = 64;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 64, copy.Height = 8;
  REQUIRE(cuMemcpy2D(&copy));
  return array;
}

inline float texel(CUarray array, size_t index) {
  float value = 0;
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.srcXInBytes = index % 16 * 4, copy.srcY = index / 16;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = &value;
  copy.WidthInBytes = 4, copy.Height = 1;
  REQUIRE(cuMemcpy2D(&copy));
  return value;
}

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace limen::conform
