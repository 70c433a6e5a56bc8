#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDriverGetVersion, before_cuInit, nothing) {
  int version = -1;
  expect_code("get", cuDriverGetVersion(&version), CUDA_SUCCESS);
  expect("13.0", version, 13000);
  expect_code("no result", cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
