#include "conformance/memory/mipmap_case.h"

namespace limen::conform {

CONFORM(cuMipmappedArrayGetLevel, each_is_half_as_large) {
  CUmipmappedArray array = mipmapped();
  CUarray level = nullptr;
  CUDA_ARRAY_DESCRIPTOR desc{};
  expect_code("level 2", cuMipmappedArrayGetLevel(&level, array, 2), CUDA_SUCCESS);
  REQUIRE(cuArrayGetDescriptor(&desc, level));
  expect("width", desc.Width, size_t{8});
  expect("height", desc.Height, size_t{4});
}

CONFORM(cuMipmappedArrayGetLevel, levels_are_apart) {
  CUmipmappedArray array = mipmapped();
  CUarray one = nullptr, two = nullptr;
  expect_code("level 0", cuMipmappedArrayGetLevel(&one, array, 0), CUDA_SUCCESS);
  expect_code("level 1", cuMipmappedArrayGetLevel(&two, array, 1), CUDA_SUCCESS);
  const float first = 1, second = 2;
  float got = 0;
  REQUIRE(cuMemcpyHtoA(one, 0, &first, 4));
  REQUIRE(cuMemcpyHtoA(two, 0, &second, 4));
  REQUIRE(cuMemcpyAtoH(&got, one, 0, 4));
  expect("level 0 keeps its texel", got, 1.0f);
}

CONFORM(cuMipmappedArrayGetLevel, wrong_arguments) {
  CUarray level = nullptr;
  expect_code("no array", cuMipmappedArrayGetLevel(&level, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  expect_code("no result", cuMipmappedArrayGetLevel(nullptr, mipmapped(), 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no such level", cuMipmappedArrayGetLevel(&level, mipmapped(2), 2),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
