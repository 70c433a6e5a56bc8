#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuCtxGetCurrent, none_and_one, initialised) {
  CUcontext current = foreign_handle<CUcontext>(), primary = nullptr;
  expect_code("none", cuCtxGetCurrent(&current), CUDA_SUCCESS);
  expect("null", current, nullptr);
  REQUIRE(cuDevicePrimaryCtxRetain(&primary, 0));
  REQUIRE(cuCtxSetCurrent(primary));
  expect_code("one", cuCtxGetCurrent(&current), CUDA_SUCCESS);
  expect_true("it", current == primary);
  expect_code("no result", cuCtxGetCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
