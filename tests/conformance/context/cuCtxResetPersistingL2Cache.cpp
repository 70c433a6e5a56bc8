#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxResetPersistingL2Cache, succeeds) {
  expect_code("reset", cuCtxResetPersistingL2Cache(), CUDA_SUCCESS);
}

CONFORM_WITH(cuCtxResetPersistingL2Cache, needs_a_context, initialised) {
  expect_code("none", cuCtxResetPersistingL2Cache(), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxResetPersistingL2Cache, has_nothing_to_show) {
  expect_code("resets", cuCtxResetPersistingL2Cache(), CUDA_SUCCESS);
  Buffer word(4);
  write<uint32_t>(word, 3);
  expect_code("again", cuCtxResetPersistingL2Cache(), CUDA_SUCCESS);
  expect("memory keeps its value", read<uint32_t>(word), 3u);
  REQUIRE(launch(common_kernel("trap"), 1, 1, nullptr));
  REQUIRE(
      (cuCtxSynchronize(nullptr) == CUDA_ERROR_LAUNCH_FAILED ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN));
  expect_code("of a failed context", cuCtxResetPersistingL2Cache(), CUDA_ERROR_LAUNCH_FAILED);
}

CONFORM_WITH(cuCtxResetPersistingL2Cache, needs_a_context_too, initialised) {
  expect_code("no context", cuCtxResetPersistingL2Cache(), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxResetPersistingL2Cache, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxResetPersistingL2Cache(), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
