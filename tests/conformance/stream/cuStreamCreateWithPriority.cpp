#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuStreamCreateWithPriority, clamps) {
  CUstream stream = nullptr;
  int priority = 9;
  expect_code("in range", cuStreamCreateWithPriority(&stream, 0, -3), CUDA_SUCCESS);
  REQUIRE(cuStreamGetPriority(stream, &priority));
  expect("as asked", priority, -3);
  expect_code("too urgent", cuStreamCreateWithPriority(&stream, 0, -100), CUDA_SUCCESS);
  REQUIRE(cuStreamGetPriority(stream, &priority));
  expect("most urgent", priority, -5);
  expect_code("too idle", cuStreamCreateWithPriority(&stream, 0, 100), CUDA_SUCCESS);
  REQUIRE(cuStreamGetPriority(stream, &priority));
  expect("least", priority, 0);
  expect_code("unknown flag", cuStreamCreateWithPriority(&stream, 4, 0), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuStreamCreateWithPriority, priorities_are_clamped) {
  int least = 0, greatest = 0, priority = 99;
  REQUIRE(cuCtxGetStreamPriorityRange(&least, &greatest));
  CUstream stream = nullptr;
  expect_code("in range", cuStreamCreateWithPriority(&stream, CU_STREAM_DEFAULT, -1), CUDA_SUCCESS);
  REQUIRE(cuStreamGetPriority(stream, &priority));
  expect("as asked", priority, -1);
  expect_code("too great", cuStreamCreateWithPriority(&stream, CU_STREAM_DEFAULT, greatest - 7),
              CUDA_SUCCESS);
  REQUIRE(cuStreamGetPriority(stream, &priority));
  expect_true("the greatest", priority == greatest);
  expect_code("too small", cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, least + 7),
              CUDA_SUCCESS);
  REQUIRE(cuStreamGetPriority(stream, &priority));
  expect_true("the least", priority == least);
  unsigned flags = 99;
  REQUIRE(cuStreamGetFlags(stream, &flags));
  expect("its flags", flags, 1u);
  expect_code("the smallest number",
              cuStreamCreateWithPriority(&stream, CU_STREAM_DEFAULT, -0x7fffffff - 1),
              CUDA_SUCCESS);
}

CONFORM(cuStreamCreateWithPriority, wrong_arguments) {
  CUstream stream = nullptr;
  expect_code("no result", cuStreamCreateWithPriority(nullptr, CU_STREAM_DEFAULT, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuStreamCreateWithPriority(&stream, 4, 0), CUDA_ERROR_INVALID_VALUE);
  expect_true("no handle", stream == nullptr);
}

CONFORM_WITH(cuStreamCreateWithPriority, needs_a_context, initialised) {
  CUstream stream;
  expect_code("no context", cuStreamCreateWithPriority(&stream, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamCreateWithPriority, needs_cuInit, nothing) {
  CUstream stream;
  expect_code("not initialised", cuStreamCreateWithPriority(&stream, 0, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
