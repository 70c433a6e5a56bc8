// CUDA arrays that cases use.
#pragma once
#include "conformance/conform.h"

namespace limen::conform {

inline CUarray make_array(size_t width, size_t height, size_t depth, CUarray_format format,
                          unsigned channels, unsigned flags) {
  CUDA_ARRAY3D_DESCRIPTOR desc{width, height, depth, format, channels, flags};
  CUarray array = nullptr;
  REQUIRE(cuArray3DCreate(&array, &desc));
  return array;
}

}  // namespace limen::conform
