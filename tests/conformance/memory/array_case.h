// A small 2D array for the cases of array queries. Thread rule: as conform.h.
#pragma once
#include "conformance/conform.h"

namespace limen::conform {

inline CUarray plain_array(size_t width = 16, size_t height = 8) {
  CUDA_ARRAY_DESCRIPTOR desc{};
  desc.Width = width;
  desc.Height = height;
  desc.Format = CU_AD_FORMAT_FLOAT;
  desc.NumChannels = 1;
  CUarray array = nullptr;
  REQUIRE(cuArrayCreate(&array, &desc));
  return array;
}

}  // namespace limen::conform
