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

CONFORM(cuCtxGetApiVersion, of_contexts) {
  CUcontext made = nullptr, primary = nullptr;
  unsigned version = 0;
  REQUIRE(cuCtxGetCurrent(&primary));
  expect_code("the current", cuCtxGetApiVersion(nullptr, &version), CUDA_SUCCESS);
  expect("3020", version, 3020u);
  version = 0;
  expect_code("the primary", cuCtxGetApiVersion(primary, &version), CUDA_SUCCESS);
  expect("3020 too", version, 3020u);
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  version = 0;
  expect_code("a new one", cuCtxGetApiVersion(made, &version), CUDA_SUCCESS);
  expect("the newest", version, 3020u);
  expect_code("no result", cuCtxGetApiVersion(made, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result of the current", cuCtxGetApiVersion(nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuCtxDestroy(made));
  expect_code("a destroyed one", cuCtxGetApiVersion(made, &version), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxGetApiVersion, foreign_memory) {
  unsigned version;
  expect_code("refused", cuCtxGetApiVersion(foreign_handle<CUcontext>(), &version),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxGetApiVersion, needs_a_context, initialised) {
  unsigned version;
  expect_code("no context", cuCtxGetApiVersion(nullptr, &version), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxGetApiVersion, needs_cuInit, nothing) {
  unsigned version;
  expect_code("not initialised", cuCtxGetApiVersion(nullptr, &version), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
