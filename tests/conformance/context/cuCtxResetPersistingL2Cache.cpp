#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxResetPersistingL2Cache, succeeds) {
  expect_code("reset", cuCtxResetPersistingL2Cache(), CUDA_SUCCESS);
}

CONFORM_WITH(cuCtxResetPersistingL2Cache, needs_a_context, initialised) {
  expect_code("none", cuCtxResetPersistingL2Cache(), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
