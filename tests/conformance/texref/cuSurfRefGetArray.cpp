#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuSurfRefGetArray, is_what_was_bound) {
  References references;
  Row row;
  CUarray got = nullptr;
  expect_code("nothing is bound", cuSurfRefGetArray(&got, references.plane),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuSurfRefSetArray(references.plane, row, 0));
  expect_code("asked", cuSurfRefGetArray(&got, references.plane), CUDA_SUCCESS);
  expect_true("the array", got == row);
}

CONFORM(cuSurfRefGetArray, arguments_that_cannot_be) {
  References references;
  Row row;
  REQUIRE(cuSurfRefSetArray(references.plane, row, 0));
  CUarray got = nullptr;
  expect_code("nowhere", cuSurfRefGetArray(nullptr, references.plane), CUDA_ERROR_INVALID_VALUE);
  expect_code("null", cuSurfRefGetArray(&got, nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("foreign", cuSurfRefGetArray(&got, foreign_handle<CUsurfref>()),
              CUDA_ERROR_INVALID_CONTEXT);
  expect_code("a texture reference",
              cuSurfRefGetArray(&got, reinterpret_cast<CUsurfref>(references.image)),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM_WITH(cuSurfRefGetArray, needs_cuInit, nothing) {
  CUarray got = nullptr;
  expect_code("not initialised", cuSurfRefGetArray(&got, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
