#include "conformance/sparse.h"

namespace limen::conform {

CONFORM(cuMipmappedArrayGetMemoryRequirements, only_of_deferred_arrays) {
  CUDA_ARRAY3D_DESCRIPTOR desc{32, 32, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray array = nullptr;
  REQUIRE(cuMipmappedArrayCreate(&array, &desc, 4));
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  expect_code("an array with memory", cuMipmappedArrayGetMemoryRequirements(&needs, array, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuMipmappedArrayGetMemoryRequirements(nullptr, array, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuMipmappedArrayGetMemoryRequirements(&needs, array, 99),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no array", cuMipmappedArrayGetMemoryRequirements(&needs, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuMipmappedArrayDestroy(array));
  expect_code("destroyed", cuMipmappedArrayGetMemoryRequirements(&needs, array, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMipmappedArrayGetMemoryRequirements, needs_cuInit, nothing) {
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
  expect_code("not initialised", cuMipmappedArrayGetMemoryRequirements(&needs, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMipmappedArrayGetMemoryRequirements, of_a_deferred_array) {
  CUmipmappedArray array = mipmapped(512, 512, 0, 3, CUDA_ARRAY3D_DEFERRED_MAPPING);
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  expect_code("asked", cuMipmappedArrayGetMemoryRequirements(&needs, array, 0), CUDA_SUCCESS);
  expect_true("the texels fit", needs.size >= (512 * 512 + 256 * 256 + 128 * 128) * 4);
  CUmemGenericAllocationHandle pool = tile_pool();
  expect_code("mapped", map(tiles_of(array, 0, pool, 0, 0, 0)), CUDA_SUCCESS);
  set_texel(level_of(array, 0), 511, 511, 1.0f);
  set_texel(level_of(array, 2), 127, 127, 2.0f);
  expect("the first level", texel(level_of(array, 0), 511, 511), 1.0f);
  expect("the last one", texel(level_of(array, 2), 127, 127), 2.0f);
}

}  // namespace limen::conform
