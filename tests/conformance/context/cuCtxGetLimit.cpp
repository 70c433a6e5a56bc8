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

}  // namespace limen::conform
