#include "conformance/texobject/textures.h"

namespace limen::conform {

CONFORM(cuTexObjectDestroy, the_handle_is_gone) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 4);
  const auto resource = array_resource(row);
  const auto how = sampler();
  CUtexObject texture = 0;
  REQUIRE(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  CUDA_RESOURCE_DESC got{};
  expect_code("before", cuTexObjectGetResourceDesc(&got, texture), CUDA_SUCCESS);
  expect_code("destroyed", cuTexObjectDestroy(texture), CUDA_SUCCESS);
  expect_code("after", cuTexObjectGetResourceDesc(&got, texture), CUDA_ERROR_INVALID_VALUE);
  expect_code("again", cuTexObjectDestroy(texture), CUDA_SUCCESS);
}

CONFORM(cuTexObjectDestroy, others_of_the_array_stay) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 2);
  row.put<float>({1, 2});
  const auto resource = array_resource(row);
  const auto how = sampler();
  CUtexObject one = 0;
  REQUIRE(cuTexObjectCreate(&one, &resource, &how, nullptr));
  TextureObject two(resource, how);
  expect_code("one", cuTexObjectDestroy(one), CUDA_SUCCESS);
  expect("the other reads", fetch_1d(two, 1.5f), 2.0f);
  expect("the array is as it was", listed(row.get<uint32_t>(2)), "1065353216 1073741824");
}

CONFORM(cuTexObjectDestroy, handles_that_are_none) {
  expect_code("0", cuTexObjectDestroy(0), CUDA_SUCCESS);
  expect_code("a made-up number", cuTexObjectDestroy(0x123456789abcdef), CUDA_SUCCESS);
  Texels row(CU_AD_FORMAT_FLOAT, 1, 4, 0, 0, CUDA_ARRAY3D_SURFACE_LDST);
  const auto resource = array_resource(row);
  CUsurfObject surface = 0;
  REQUIRE(cuSurfObjectCreate(&surface, &resource));
  expect_code("a surface", cuTexObjectDestroy(surface), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC got{};
  expect_code("which is still there", cuSurfObjectGetResourceDesc(&got, surface),
              CUDA_SUCCESS);
  expect_code("which lives", cuSurfObjectDestroy(surface), CUDA_SUCCESS);
}

CONFORM(cuTexObjectDestroy, thousands_of_them) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 2);
  row.put<float>({1, 2});
  const auto resource = array_resource(row);
  const auto how = sampler();
  size_t good = 0;
  for (int i = 0; i < 20000; ++i) {
    CUtexObject texture = 0;
    good += !cuTexObjectCreate(&texture, &resource, &how, nullptr) && !cuTexObjectDestroy(texture);
  }
  expect("made and destroyed", good, 20000u);
  TextureObject last(resource, how);
  expect("one more reads", fetch_1d(last, 1.5f), 2.0f);
}

CONFORM_WITH(cuTexObjectDestroy, needs_a_context, initialised) {
  expect_code("no context", cuTexObjectDestroy(1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuTexObjectDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexObjectDestroy(1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
