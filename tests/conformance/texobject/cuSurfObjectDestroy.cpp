#include "conformance/texobject/textures.h"

namespace limen::conform {

CONFORM(cuSurfObjectDestroy, the_handle_is_gone) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 4, 0, 0, CUDA_ARRAY3D_SURFACE_LDST);
  const auto resource = array_resource(row);
  CUsurfObject surface = 0, other = 0;
  REQUIRE(cuSurfObjectCreate(&surface, &resource));
  REQUIRE(cuSurfObjectCreate(&other, &resource));
  CUDA_RESOURCE_DESC got{};
  expect_code("before", cuSurfObjectGetResourceDesc(&got, surface), CUDA_SUCCESS);
  expect_code("destroyed", cuSurfObjectDestroy(surface), CUDA_SUCCESS);
  expect_code("after", cuSurfObjectGetResourceDesc(&got, surface), CUDA_ERROR_INVALID_VALUE);
  expect_code("again", cuSurfObjectDestroy(surface), CUDA_SUCCESS);
  expect_code("another of the array lives", cuSurfObjectGetResourceDesc(&got, other), CUDA_SUCCESS);
}

CONFORM(cuSurfObjectDestroy, handles_that_are_none) {
  expect_code("0", cuSurfObjectDestroy(0), CUDA_SUCCESS);
  expect_code("a made-up number", cuSurfObjectDestroy(0x123456789abcdef), CUDA_SUCCESS);
  Texels row(CU_AD_FORMAT_FLOAT, 1, 2);
  row.put<float>({1, 2});
  TextureObject texture(array_resource(row), sampler());
  expect_code("a texture", cuSurfObjectDestroy(texture), CUDA_SUCCESS);
  expect("which lives", fetch_1d(texture, 0.5f), 1.0f);
}

CONFORM_WITH(cuSurfObjectDestroy, needs_a_context, initialised) {
  expect_code("no context", cuSurfObjectDestroy(1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuSurfObjectDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuSurfObjectDestroy(1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
