#include "conformance/memory/mipmap_case.h"

namespace limen::conform {

CONFORM(cuMipmappedArrayCreate, as_many_levels_as_there_can_be) {
  const auto desc = mipmap_descriptor();
  CUmipmappedArray array = nullptr;
  CUarray level = nullptr;
  expect_code("creates", cuMipmappedArrayCreate(&array, &desc, 100), CUDA_SUCCESS);
  expect_code("level 5 of 32 texels", cuMipmappedArrayGetLevel(&level, array, 5), CUDA_SUCCESS);
  expect_code("no level 6", cuMipmappedArrayGetLevel(&level, array, 6), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMipmappedArrayCreate, wrong_arguments) {
  auto desc = mipmap_descriptor();
  CUmipmappedArray array = nullptr;
  expect_code("no result", cuMipmappedArrayCreate(nullptr, &desc, 2), CUDA_ERROR_INVALID_VALUE);
  expect_code("no description", cuMipmappedArrayCreate(&array, nullptr, 2),
              CUDA_ERROR_INVALID_VALUE);
  desc.Width = 0;
  expect_code("no width", cuMipmappedArrayCreate(&array, &desc, 2), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
