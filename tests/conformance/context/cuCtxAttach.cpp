#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuCtxAttach, counts, initialised) {
  CUcontext made = nullptr, attached = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("attach", cuCtxAttach(&attached, 0), CUDA_SUCCESS);
  expect_true("the current one", attached == made);
  REQUIRE(cuCtxDetach(made));
  expect_code("still alive", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  expect_code("flags", cuCtxAttach(&attached, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuCtxAttach(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
