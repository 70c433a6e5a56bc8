#include "conformance/memory/array_case.h"

namespace limen::conform {

CONFORM(cuArrayGetPlane, of_an_array_without_planes) {
  CUarray plane = nullptr;
  expect_code("plane 0", cuArrayGetPlane(&plane, plain_array(), 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("plane 1", cuArrayGetPlane(&plane, plain_array(), 1), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuArrayGetPlane, of_no_array) {
  CUarray plane = nullptr;
  expect_code("null", cuArrayGetPlane(&plane, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
