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

CONFORM(cuCtxGetStreamPriorityRange, streams_take_both_ends) {
  int least = 99, greatest = 99, priority = 99;
  expect_code("asks", cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
  expect("least", least, 0);
  expect("greatest", greatest, -5);
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreateWithPriority(&stream, CU_STREAM_DEFAULT, greatest));
  REQUIRE(cuStreamGetPriority(stream, &priority));
  expect("a stream has it", priority, greatest);
  least = 99, greatest = 99;
  expect_code("only the least", cuCtxGetStreamPriorityRange(&least, nullptr), CUDA_SUCCESS);
  expect("it is told", least, 0);
  expect_code("only the greatest", cuCtxGetStreamPriorityRange(nullptr, &greatest), CUDA_SUCCESS);
  expect("it is told too", greatest, -5);
  expect_code("neither", cuCtxGetStreamPriorityRange(nullptr, nullptr), CUDA_SUCCESS);
}

CONFORM_WITH(cuCtxGetStreamPriorityRange, needs_a_context_too, initialised) {
  int least, greatest;
  expect_code("no context", cuCtxGetStreamPriorityRange(&least, &greatest),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxGetStreamPriorityRange, needs_cuInit, nothing) {
  int least, greatest;
  expect_code("not initialised", cuCtxGetStreamPriorityRange(&least, &greatest),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
