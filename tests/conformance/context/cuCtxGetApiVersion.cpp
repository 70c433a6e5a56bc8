#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxGetApiVersion, of_the_current_context) {
  unsigned version = 0;
  expect_code("get", cuCtxGetApiVersion(nullptr, &version), CUDA_SUCCESS);
  expect_true("3.2 or later", version >= 3020);
  CUcontext primary = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  expect_code("no result", cuCtxGetApiVersion(primary, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
