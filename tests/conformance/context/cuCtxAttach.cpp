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

CONFORM(cuCtxAttach, counts_uses) {
  CUcontext made = nullptr, attached = nullptr;
  CUdeviceptr address = 0;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("attaches", cuCtxAttach(&attached, 0), CUDA_SUCCESS);
  expect_true("the current", attached == made);
  REQUIRE(cuCtxDetach(made));
  expect_code("one use is left", cuMemAlloc(&address, 16), CUDA_SUCCESS);
  expect_code("flags", cuCtxAttach(&attached, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuCtxAttach(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxAttach, needs_a_context, initialised) {
  CUcontext attached;
  expect_code("no context", cuCtxAttach(&attached, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxAttach, needs_cuInit, nothing) {
  CUcontext attached;
  expect_code("not initialised", cuCtxAttach(&attached, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
