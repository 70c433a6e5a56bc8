#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuProfilerStop, succeeds_without_a_profiler) {
  expect_code("call", cuProfilerStop(), CUDA_SUCCESS);
  expect_code("again", cuProfilerStop(), CUDA_SUCCESS);
}

CONFORM_WITH(cuProfilerStop, needs_a_context, initialised) {
  expect_code("none", cuProfilerStop(), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
