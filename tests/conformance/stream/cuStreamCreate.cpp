#include "conformance/conform.h"
#include "conformance/gate.h"

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

CONFORM(cuStreamCreate, makes_streams_of_both_kinds) {
  CUstream plain = nullptr, apart = nullptr;
  expect_code("plain", cuStreamCreate(&plain, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  expect_code("non-blocking", cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  expect_true("two handles", plain && apart && plain != apart);
  unsigned flags = 99;
  REQUIRE(cuStreamGetFlags(plain, &flags));
  expect("plain flags", flags, 0u);
  REQUIRE(cuStreamGetFlags(apart, &flags));
  expect("non-blocking flags", flags, 1u);
  int priority = 99;
  REQUIRE(cuStreamGetPriority(plain, &priority));
  expect("least priority", priority, 0);
  Buffer word(4);
  REQUIRE(launch(common_kernel("store"), 1, 1, plain, word.at(), 8u));
  REQUIRE(cuStreamSynchronize(plain));
  expect("it runs kernels", read<uint32_t>(word), 8u);
}

CONFORM(cuStreamCreate, only_plain_streams_wait_for_the_legacy_one) {
  CUstream plain = nullptr, apart = nullptr;
  expect_code("plain", cuStreamCreate(&plain, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  expect_code("non-blocking", cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUfunction store = common_kernel("store");
  HostWord first, second;
  Gate gate(nullptr);
  REQUIRE(launch(store, 1, 1, plain, first.at(), 1u));
  REQUIRE(launch(store, 1, 1, apart, second.at(), 2u));
  REQUIRE(cuStreamSynchronize(apart));
  expect("non-blocking goes on", second.value(), 2u);
  expect_code("plain waits", cuStreamQuery(plain), CUDA_ERROR_NOT_READY);
  expect("and has not run", first.value(), 0u);
  gate.open();
  REQUIRE(cuStreamSynchronize(plain));
  expect("plain at last", first.value(), 1u);
}

CONFORM(cuStreamCreate, wrong_arguments) {
  CUstream stream = nullptr;
  expect_code("no result", cuStreamCreate(nullptr, CU_STREAM_DEFAULT), CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuStreamCreate(&stream, 2), CUDA_ERROR_INVALID_VALUE);
  expect_code("all flags", cuStreamCreate(&stream, ~0u), CUDA_ERROR_INVALID_VALUE);
  expect_true("no handle", stream == nullptr);
}

CONFORM_WITH(cuStreamCreate, needs_a_context_too, initialised) {
  CUstream stream;
  expect_code("no context", cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamCreate, needs_cuInit, nothing) {
  CUstream stream;
  expect_code("not initialised", cuStreamCreate(&stream, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
