#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuCtxDetach, the_last_one_destroys, initialised) {
  CUcontext made = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("detach", cuCtxDetach(made), CUDA_SUCCESS);
  CUcontext current = made;
  REQUIRE(cuCtxGetCurrent(&current));
  expect("nothing is current", current, nullptr);
  expect_code("null", cuCtxDetach(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
