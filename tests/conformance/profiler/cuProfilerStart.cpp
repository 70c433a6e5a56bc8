#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuProfilerStart, succeeds_without_a_profiler) {
  expect_code("call", cuProfilerStart(), CUDA_SUCCESS);
  expect_code("again", cuProfilerStart(), CUDA_SUCCESS);
}

CONFORM_WITH(cuProfilerStart, needs_a_context, initialised) {
  expect_code("none", cuProfilerStart(), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
