// A mipmapped array of 32 x 16 floats. Thread rule: as conform.h.
#pragma once
#include "conformance/conform.h"

namespace limen::conform {

inline CUDA_ARRAY3D_DESCRIPTOR mipmap_descriptor() {
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  desc.Width = 32, desc.Height = 16;
  desc.Format = CU_AD_FORMAT_FLOAT;
  desc.NumChannels = 1;
  return desc;
}

inline CUmipmappedArray mipmapped(unsigned levels = 4) {
  const auto desc = mipmap_descriptor();
  CUmipmappedArray array = nullptr;
  REQUIRE(cuMipmappedArrayCreate(&array, &desc, levels));
  return array;
}

}  // namespace limen::conform
