#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxGetLimit, defaults) {
  size_t value = 0;
  expect_code("stack", cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  expect("1 KiB", value, 1024u);
  expect_code("heap", cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE), CUDA_SUCCESS);
  expect("8 MiB", value, size_t{8 << 20});
  expect_code("pending launches", cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT),
              CUDA_SUCCESS);
  expect("2048", value, 2048u);
  expect_code("old device runtime", cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH),
              CUDA_ERROR_UNSUPPORTED_LIMIT);
  expect_code("unknown", cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuCtxGetLimit, defaults_too) {
  size_t value = 0;
  expect_code("stack", cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  expect("1 KiB", value, 1024u);
  expect_code("printf", cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE), CUDA_SUCCESS);
  expect_true("about 1 MiB or more", value >= 1 << 20);
  expect_code("heap", cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE), CUDA_SUCCESS);
  expect("8 MiB", value, 8u << 20);
  expect_code("pending launches", cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT),
              CUDA_SUCCESS);
  expect("2048", value, 2048u);
  expect_code("L2 fetch", cuCtxGetLimit(&value, CU_LIMIT_MAX_L2_FETCH_GRANULARITY), CUDA_SUCCESS);
  expect_true("up to 128 bytes", value <= 128);
  expect_code("persisting L2", cuCtxGetLimit(&value, CU_LIMIT_PERSISTING_L2_CACHE_SIZE),
              CUDA_SUCCESS);
  expect_code("synchronisation depth", cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH),
              CUDA_ERROR_UNSUPPORTED_LIMIT);
}

CONFORM(cuCtxGetLimit, is_what_was_set) {
  size_t value = 0;
  REQUIRE(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  expect_code("stack", cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  expect("4 KiB", value, 4096u);
  CUcontext made = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("of another context", cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  expect("its own", value, 1024u);
}

CONFORM(cuCtxGetLimit, wrong_arguments) {
  size_t value = 0;
  expect_code("no result", cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown", cuCtxGetLimit(&value, CUlimit(99)), CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown and no result", cuCtxGetLimit(nullptr, CUlimit(99)),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxGetLimit, needs_a_context, initialised) {
  size_t value;
  expect_code("no context", cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxGetLimit, needs_cuInit, nothing) {
  size_t value;
  expect_code("not initialised", cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
