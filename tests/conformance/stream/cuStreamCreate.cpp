#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuStreamCreate, both_kinds) {
  CUstream one = nullptr, two = nullptr;
  expect_code("blocking", cuStreamCreate(&one, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  expect_code("non-blocking", cuStreamCreate(&two, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  expect_true("two", one != two);
  Buffer word(4);
  REQUIRE(launch(common_kernel("store"), 1, 1, one, word.at(), 2u));
  REQUIRE(cuStreamSynchronize(one));
  expect("works", read<uint32_t>(word), 2u);
  expect_code("unknown flag", cuStreamCreate(&one, 2), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuStreamCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuStreamCreate, needs_a_context, initialised) {
  CUstream stream = nullptr;
  expect_code("none", cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
