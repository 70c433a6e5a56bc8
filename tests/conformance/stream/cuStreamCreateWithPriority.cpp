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

}  // namespace limen::conform
