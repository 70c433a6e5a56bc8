#include "conformance/arrays.h"
#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMipmappedArrayCreate, levels_halve) {
  CUDA_ARRAY3D_DESCRIPTOR desc{20, 12, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0}, level{};
  CUmipmappedArray mipmapped = nullptr;
  CUarray array = nullptr;
  expect_code("three levels", cuMipmappedArrayCreate(&mipmapped, &desc, 3), CUDA_SUCCESS);
  REQUIRE(cuMipmappedArrayGetLevel(&array, mipmapped, 2));
  REQUIRE(cuArray3DGetDescriptor(&level, array));
  expect("width", level.Width, 5u);
  expect("height", level.Height, 3u);
  expect_code("a fourth", cuMipmappedArrayGetLevel(&array, mipmapped, 3), CUDA_ERROR_INVALID_VALUE);
  expect_code("too many levels", cuMipmappedArrayCreate(&mipmapped, &desc, 99), CUDA_SUCCESS);
  expect_code("the fifth", cuMipmappedArrayGetLevel(&array, mipmapped, 4), CUDA_SUCCESS);
  expect_code("there is no sixth", cuMipmappedArrayGetLevel(&array, mipmapped, 5),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no level", cuMipmappedArrayCreate(&mipmapped, &desc, 0), CUDA_SUCCESS);
}

CONFORM(cuMipmappedArrayCreate, wrong_arguments) {
  CUDA_ARRAY3D_DESCRIPTOR desc{20, 12, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
  CUmipmappedArray mipmapped = nullptr;
  expect_code("no result", cuMipmappedArrayCreate(nullptr, &desc, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no descriptor", cuMipmappedArrayCreate(&mipmapped, nullptr, 1),
              CUDA_ERROR_INVALID_VALUE);
  desc.NumChannels = 3;
  expect_code("3 channels", cuMipmappedArrayCreate(&mipmapped, &desc, 1), CUDA_ERROR_INVALID_VALUE);
  desc = {0, 12, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
  expect_code("no width", cuMipmappedArrayCreate(&mipmapped, &desc, 1), CUDA_ERROR_INVALID_VALUE);
  desc = {8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0x80000000};
  expect_code("unknown flag", cuMipmappedArrayCreate(&mipmapped, &desc, 1), CUDA_SUCCESS);
}

CONFORM_WITH(cuMipmappedArrayCreate, needs_a_context, initialised) {
  CUDA_ARRAY3D_DESCRIPTOR desc{8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray m;
  expect_code("no context", cuMipmappedArrayCreate(&m, &desc, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMipmappedArrayCreate, needs_cuInit, nothing) {
  CUDA_ARRAY3D_DESCRIPTOR desc{8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray m;
  expect_code("not initialised", cuMipmappedArrayCreate(&m, &desc, 1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
