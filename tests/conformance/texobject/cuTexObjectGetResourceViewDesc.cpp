#include "conformance/texobject/textures.h"

namespace limen::conform {

CONFORM(cuTexObjectGetResourceViewDesc, is_what_it_was_made_of) {
  Levels levels(8, 8, 4);
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_UINT_1X32;
  view.width = view.height = 8;
  view.firstMipmapLevel = 1, view.lastMipmapLevel = 2;
  TextureObject texture(levels.resource(), sampler(), &view);
  CUDA_RESOURCE_VIEW_DESC got{};
  expect_code("asked", cuTexObjectGetResourceViewDesc(&got, texture), CUDA_SUCCESS);
  expect("format", got.format, CU_RES_VIEW_FORMAT_UINT_1X32);
  expect("width", got.width, 8u);
  expect("height", got.height, 8u);
  expect("depth", got.depth, 0u);
  expect("first level", got.firstMipmapLevel, 1u);
  expect("last level", got.lastMipmapLevel, 2u);
  expect("last layer", got.lastLayer, 0u);
}

CONFORM(cuTexObjectGetResourceViewDesc, arguments_that_are_none) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 4);
  TextureObject texture(array_resource(row), sampler());
  CUDA_RESOURCE_VIEW_DESC got{};
  got.format = CU_RES_VIEW_FORMAT_SINT_4X8;
  got.width = 9;
  expect_code("a texture without a view", cuTexObjectGetResourceViewDesc(&got, texture),
              CUDA_SUCCESS);
  expect("its format", got.format, CU_RES_VIEW_FORMAT_SINT_4X8);
  expect("its width", got.width, 9u);
  expect_code("nowhere", cuTexObjectGetResourceViewDesc(nullptr, texture),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("0", cuTexObjectGetResourceViewDesc(&got, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("a made-up number", cuTexObjectGetResourceViewDesc(&got, 0x123456789abcdef),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuTexObjectGetResourceViewDesc, needs_a_context, initialised) {
  CUDA_RESOURCE_VIEW_DESC got{};
  expect_code("no context", cuTexObjectGetResourceViewDesc(&got, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuTexObjectGetResourceViewDesc, needs_cuInit, nothing) {
  CUDA_RESOURCE_VIEW_DESC got{};
  expect_code("not initialised", cuTexObjectGetResourceViewDesc(&got, 1),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
