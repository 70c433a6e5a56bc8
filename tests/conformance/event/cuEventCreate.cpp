#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuEventCreate, flags) {
  CUevent one = nullptr, two = nullptr;
  expect_code("default", cuEventCreate(&one, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  expect_code("both", cuEventCreate(&two, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING),
              CUDA_SUCCESS);
  expect_true("two", one != two);
  expect_code("never recorded: done", cuEventQuery(one), CUDA_SUCCESS);
  expect_code("unknown flag", cuEventCreate(&one, 64), CUDA_ERROR_INVALID_VALUE);
  expect_code("between processes with timing", cuEventCreate(&one, CU_EVENT_INTERPROCESS),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuEventCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuEventCreate, needs_a_context, initialised) {
  CUevent event = nullptr;
  expect_code("none", cuEventCreate(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
