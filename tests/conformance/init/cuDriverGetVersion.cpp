#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDriverGetVersion, works_before_cuInit, nothing) {
  int version = 0;
  expect_code("asked", cuDriverGetVersion(&version), CUDA_SUCCESS);
  expect("CUDA 13.0", version, 13000);
}

CONFORM_WITH(cuDriverGetVersion, needs_a_place, nothing) {
  expect_code("null", cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuDriverGetVersion, stays_the_same) {
  int version = 0;
  expect_code("asked", cuDriverGetVersion(&version), CUDA_SUCCESS);
  expect("CUDA 13.0", version, 13000);
  expect_code("null", cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
