#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxGetFlags, follow_set_flags) {
  unsigned flags = 99;
  expect_code("get", cuCtxGetFlags(&flags), CUDA_SUCCESS);
  expect("automatic", flags & CU_CTX_SCHED_MASK, 0u);
  REQUIRE(cuCtxSetFlags(CU_CTX_SCHED_BLOCKING_SYNC));
  expect_code("again", cuCtxGetFlags(&flags), CUDA_SUCCESS);
  expect("blocking", flags & CU_CTX_SCHED_MASK, unsigned{CU_CTX_SCHED_BLOCKING_SYNC});
  expect_code("no result", cuCtxGetFlags(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuCtxGetFlags, are_those_of_its_creation) {
  CUcontext made = nullptr;
  unsigned flags = 99;
  REQUIRE(cuCtxCreate(&made, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, 0));
  expect_code("asks", cuCtxGetFlags(&flags), CUDA_SUCCESS);
  expect("blocking", flags & CU_CTX_SCHED_MASK, unsigned(CU_CTX_SCHED_BLOCKING_SYNC));
  REQUIRE(cuCtxDestroy(made));
  REQUIRE(cuCtxCreate(&made, nullptr, CU_CTX_SCHED_SPIN, 0));
  expect_code("of another", cuCtxGetFlags(&flags), CUDA_SUCCESS);
  expect("spinning", flags & CU_CTX_SCHED_MASK, unsigned(CU_CTX_SCHED_SPIN));
  REQUIRE(cuCtxDestroy(made));
  expect_code("of the primary", cuCtxGetFlags(&flags), CUDA_SUCCESS);
  expect("automatic", flags & CU_CTX_SCHED_MASK, unsigned(CU_CTX_SCHED_AUTO));
  expect("nothing more", flags, unsigned{CU_CTX_MAP_HOST});
  expect_code("no result", cuCtxGetFlags(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxGetFlags, needs_a_context, initialised) {
  unsigned flags;
  expect_code("no context", cuCtxGetFlags(&flags), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxGetFlags, needs_cuInit, nothing) {
  unsigned flags;
  expect_code("not initialised", cuCtxGetFlags(&flags), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
