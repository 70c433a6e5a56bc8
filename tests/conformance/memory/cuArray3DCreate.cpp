#include "conformance/conform.h"

namespace limen::conform {

static CUDA_ARRAY3D_DESCRIPTOR described(size_t width, size_t height, size_t depth,
                                         unsigned flags = 0) {
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  desc.Width = width, desc.Height = height, desc.Depth = depth;
  desc.Format = CU_AD_FORMAT_FLOAT;
  desc.NumChannels = 1;
  desc.Flags = flags;
  return desc;
}

static float corner_of(CUarray array, size_t x, size_t y, size_t z) {
  const float in = 2.5f;
  float out = 0;
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = &in;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.dstXInBytes = x * 4, copy.dstY = y, copy.dstZ = z;
  copy.WidthInBytes = 4, copy.Height = 1, copy.Depth = 1;
  REQUIRE(cuMemcpy3D(&copy));
  CUDA_MEMCPY3D back{};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  back.srcArray = array;
  back.srcXInBytes = x * 4, back.srcY = y, back.srcZ = z;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = &out;
  back.WidthInBytes = 4, back.Height = 1, back.Depth = 1;
  REQUIRE(cuMemcpy3D(&back));
  return out;
}

CONFORM(cuArray3DCreate, shapes) {
  CUarray array = nullptr;
  auto desc = described(8, 6, 4);
  expect_code("three dimensions", cuArray3DCreate(&array, &desc), CUDA_SUCCESS);
  expect("its last texel", corner_of(array, 7, 5, 3), 2.5f);
  desc = described(8, 6, 5, CUDA_ARRAY3D_LAYERED);
  expect_code("layers", cuArray3DCreate(&array, &desc), CUDA_SUCCESS);
  expect("in the last layer", corner_of(array, 7, 5, 4), 2.5f);
  desc = described(8, 8, 6, CUDA_ARRAY3D_CUBEMAP);
  expect_code("a cube", cuArray3DCreate(&array, &desc), CUDA_SUCCESS);
  expect("on the last face", corner_of(array, 7, 7, 5), 2.5f);
}

CONFORM(cuArray3DCreate, wrong_arguments) {
  CUarray array = nullptr;
  auto desc = described(8, 6, 4);
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no result", cuArray3DCreate(nullptr, &desc), bad);
  expect_code("no description", cuArray3DCreate(&array, nullptr), bad);
  desc = described(8, 0, 4);
  expect_code("depth without height", cuArray3DCreate(&array, &desc), bad);
  desc = described(8, 6, 6, CUDA_ARRAY3D_CUBEMAP);
  expect_code("a cube with two sides", cuArray3DCreate(&array, &desc), bad);
  desc = described(8, 8, 5, CUDA_ARRAY3D_CUBEMAP);
  expect_code("a cube of five faces", cuArray3DCreate(&array, &desc), bad);
  desc = described(8, 6, 0, CUDA_ARRAY3D_LAYERED);
  expect_code("no layers", cuArray3DCreate(&array, &desc), bad);
}

}  // namespace limen::conform
