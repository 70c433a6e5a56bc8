#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxGetStreamPriorityRange, as_the_h200) {
  int least = 9, greatest = 9;
  expect_code("get", cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
  expect("least", least, 0);
  expect("greatest", greatest, -5);
  expect_code("one only", cuCtxGetStreamPriorityRange(nullptr, &greatest), CUDA_SUCCESS);
}

CONFORM_WITH(cuCtxGetStreamPriorityRange, needs_a_context, initialised) {
  int least = 9, greatest = 9;
  expect_code("none", cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
