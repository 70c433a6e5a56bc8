#include "conformance/texobject/textures.h"

namespace limen::conform {

CONFORM(cuTexObjectGetResourceDesc, every_kind) {
  CUDA_RESOURCE_DESC got{};
  Texels row(CU_AD_FORMAT_FLOAT, 1, 4);
  TextureObject of_array(array_resource(row), sampler());
  expect_code("array", cuTexObjectGetResourceDesc(&got, of_array), CUDA_SUCCESS);
  expect("type of an array", got.resType, CU_RESOURCE_TYPE_ARRAY);
  expect_true("its array", got.res.array.hArray == row);
  Levels levels(4, 4, 2);
  TextureObject of_levels(levels.resource(), sampler());
  expect_code("levels", cuTexObjectGetResourceDesc(&got, of_levels), CUDA_SUCCESS);
  expect("type of levels", got.resType, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
  expect_true("its levels", got.res.mipmap.hMipmappedArray == levels);
  Buffer memory(1024);
  TextureObject of_line(linear_resource(memory, CU_AD_FORMAT_UNSIGNED_INT16, 2, 64), sampler());
  expect_code("linear", cuTexObjectGetResourceDesc(&got, of_line), CUDA_SUCCESS);
  expect("type of linear", got.resType, CU_RESOURCE_TYPE_LINEAR);
  expect_true("its address", got.res.linear.devPtr == memory.at());
  expect("its format", got.res.linear.format, CU_AD_FORMAT_UNSIGNED_INT16);
  expect("its channels", got.res.linear.numChannels, 2u);
  expect("its bytes", got.res.linear.sizeInBytes, 64u);
  TextureObject of_plane(pitch_resource(memory, CU_AD_FORMAT_FLOAT, 1, 8, 3, 64), sampler());
  expect_code("pitched", cuTexObjectGetResourceDesc(&got, of_plane), CUDA_SUCCESS);
  expect("type of pitched", got.resType, CU_RESOURCE_TYPE_PITCH2D);
  expect("its width", got.res.pitch2D.width, 8u);
  expect("its height", got.res.pitch2D.height, 3u);
  expect("its pitch", got.res.pitch2D.pitchInBytes, 64u);
}

CONFORM(cuTexObjectGetResourceDesc, arguments_that_are_none) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 4, 0, 0, CUDA_ARRAY3D_SURFACE_LDST);
  TextureObject texture(array_resource(row), sampler());
  const auto resource = array_resource(row);
  CUsurfObject surface = 0;
  REQUIRE(cuSurfObjectCreate(&surface, &resource));
  CUDA_RESOURCE_DESC got{};
  expect_code("nowhere", cuTexObjectGetResourceDesc(nullptr, texture), CUDA_ERROR_INVALID_VALUE);
  expect_code("0", cuTexObjectGetResourceDesc(&got, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("a made-up number", cuTexObjectGetResourceDesc(&got, 0x123456789abcdef),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("a surface", cuTexObjectGetResourceDesc(&got, surface),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuTexObjectGetResourceDesc, needs_a_context, initialised) {
  CUDA_RESOURCE_DESC got{};
  expect_code("no context", cuTexObjectGetResourceDesc(&got, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuTexObjectGetResourceDesc, needs_cuInit, nothing) {
  CUDA_RESOURCE_DESC got{};
  expect_code("not initialised", cuTexObjectGetResourceDesc(&got, 1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
