#include "conformance/arrays.h"
#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMipmappedArrayDestroy, levels_go_with_it) {
  CUDA_ARRAY3D_DESCRIPTOR desc{32, 32, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray mipmapped = nullptr;
  CUarray level = nullptr;
  REQUIRE(cuMipmappedArrayCreate(&mipmapped, &desc, 4));
  REQUIRE(cuMipmappedArrayGetLevel(&level, mipmapped, 1));
  expect_code("destroys", cuMipmappedArrayDestroy(mipmapped), CUDA_SUCCESS);
  expect_code("twice", cuMipmappedArrayDestroy(mipmapped), CUDA_ERROR_INVALID_HANDLE);
  expect_code("its level", cuArray3DGetDescriptor(&desc, level), CUDA_ERROR_INVALID_HANDLE);
  expect_code("none", cuMipmappedArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuMipmappedArrayDestroy, foreign_memory) {
  expect_code("refused", cuMipmappedArrayDestroy(foreign_handle<CUmipmappedArray>()),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMipmappedArrayDestroy, needs_a_context, initialised) {
  expect_code("no context", cuMipmappedArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMipmappedArrayDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuMipmappedArrayDestroy(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
