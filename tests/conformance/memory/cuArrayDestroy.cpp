#include "conformance/arrays.h"
#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuArrayDestroy, the_array_is_gone) {
  CUarray array = make_array(1024, 1024, 0, CU_AD_FORMAT_FLOAT, 4, 0);
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  size_t before = 0, after = 0, total = 0;
  REQUIRE(cuMemGetInfo(&before, &total));
  expect_code("destroys", cuArrayDestroy(array), CUDA_SUCCESS);
  REQUIRE(cuMemGetInfo(&after, &total));
  expect_true("memory comes back", after > before);
  expect_code("nothing is known of it", cuArray3DGetDescriptor(&desc, array),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("twice", cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
  expect_code("none", cuArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

// A level is its mipmapped array's: the call is taken, and does nothing.
CONFORM(cuArrayDestroy, a_level_stays) {
  CUDA_ARRAY3D_DESCRIPTOR desc{16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray mipmapped = nullptr;
  CUarray level = nullptr, again = nullptr;
  REQUIRE(cuMipmappedArrayCreate(&mipmapped, &desc, 3));
  REQUIRE(cuMipmappedArrayGetLevel(&level, mipmapped, 1));
  expect_code("a level", cuArrayDestroy(level), CUDA_SUCCESS);
  expect_code("is there again", cuMipmappedArrayGetLevel(&again, mipmapped, 1), CUDA_SUCCESS);
}

CONFORM(cuArrayDestroy, foreign_memory) {
  expect_code("refused", cuArrayDestroy(foreign_handle<CUarray>()), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuArrayDestroy, needs_a_context, initialised) {
  expect_code("no context", cuArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuArrayDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuArrayDestroy(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
