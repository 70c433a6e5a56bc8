#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuSurfRefSetArray, what_kernels_read) {
  References references;
  Texels row(CU_AD_FORMAT_UNSIGNED_INT32, 4, 2, 0, 0, CUDA_ARRAY3D_SURFACE_LDST);
  row.put<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8});
  expect_code("bound", cuSurfRefSetArray(references.plane, row, 0), CUDA_SUCCESS);
  expect("a texel", listed(references.fetch("surface", 16)), "5 6 7 8");
  Texels other(CU_AD_FORMAT_UNSIGNED_INT32, 4, 2, 0, 0, CUDA_ARRAY3D_SURFACE_LDST);
  other.put<uint32_t>({11, 12, 13, 14, 15, 16, 17, 18});
  expect_code("another", cuSurfRefSetArray(references.plane, other, 0), CUDA_SUCCESS);
  expect("its texel", listed(references.fetch("surface", 16)), "15 16 17 18");
}

CONFORM(cuSurfRefSetArray, arguments_that_cannot_be) {
  References references;
  Row row;
  expect_code("flags", cuSurfRefSetArray(references.plane, row, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no array", cuSurfRefSetArray(references.plane, nullptr, 0),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("a foreign array", cuSurfRefSetArray(references.plane, foreign_handle<CUarray>(), 0),
              CUDA_ERROR_INVALID_CONTEXT);
  expect_code("null", cuSurfRefSetArray(nullptr, row, 0), CUDA_ERROR_INVALID_HANDLE);
  expect_code("foreign", cuSurfRefSetArray(foreign_handle<CUsurfref>(), row, 0),
              CUDA_ERROR_INVALID_CONTEXT);
  expect_code("a texture reference",
              cuSurfRefSetArray(reinterpret_cast<CUsurfref>(references.image), row, 0),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
  REQUIRE(cuModuleUnload(references.module()));
  expect_code("of a module that was unloaded", cuSurfRefSetArray(references.plane, row, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuSurfRefSetArray, needs_cuInit, nothing) {
  expect_code("not initialised", cuSurfRefSetArray(nullptr, nullptr, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
