#include "conformance/memory/mipmap_case.h"

namespace limen::conform {

CONFORM(cuMipmappedArrayDestroy, ends_the_handle) {
  CUmipmappedArray array = mipmapped();
  CUarray level = nullptr;
  expect_code("destroys", cuMipmappedArrayDestroy(array), CUDA_SUCCESS);
  expect_code("unknown now", cuMipmappedArrayGetLevel(&level, array, 0), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuMipmappedArrayDestroy, no_array) {
  expect_code("null", cuMipmappedArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
