#include "conformance/texobject/textures.h"

namespace limen::conform {

CONFORM(cuSurfObjectGetResourceDesc, is_what_it_was_made_of) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 4, 0, 0, CUDA_ARRAY3D_SURFACE_LDST);
  const auto resource = array_resource(row);
  CUsurfObject surface = 0;
  REQUIRE(cuSurfObjectCreate(&surface, &resource));
  CUDA_RESOURCE_DESC got{};
  got.resType = CU_RESOURCE_TYPE_LINEAR;
  expect_code("asked", cuSurfObjectGetResourceDesc(&got, surface), CUDA_SUCCESS);
  expect("type", got.resType, CU_RESOURCE_TYPE_ARRAY);
  expect_true("array", got.res.array.hArray == row);
  expect("flags", got.flags, 0u);
}

CONFORM(cuSurfObjectGetResourceDesc, arguments_that_are_none) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 4, 0, 0, CUDA_ARRAY3D_SURFACE_LDST);
  const auto resource = array_resource(row);
  CUsurfObject surface = 0;
  REQUIRE(cuSurfObjectCreate(&surface, &resource));
  TextureObject texture(resource, sampler());
  CUDA_RESOURCE_DESC got{};
  expect_code("nowhere", cuSurfObjectGetResourceDesc(nullptr, surface), CUDA_ERROR_INVALID_VALUE);
  expect_code("0", cuSurfObjectGetResourceDesc(&got, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("a made-up number", cuSurfObjectGetResourceDesc(&got, 0x123456789abcdef),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("a texture", cuSurfObjectGetResourceDesc(&got, texture),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuSurfObjectGetResourceDesc, needs_a_context, initialised) {
  CUDA_RESOURCE_DESC got{};
  expect_code("no context", cuSurfObjectGetResourceDesc(&got, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuSurfObjectGetResourceDesc, needs_cuInit, nothing) {
  CUDA_RESOURCE_DESC got{};
  expect_code("not initialised", cuSurfObjectGetResourceDesc(&got, 1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
