#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxSetFlags, are_kept) {
  expect_code("spin", cuCtxSetFlags(CU_CTX_SCHED_SPIN), CUDA_SUCCESS);
  unsigned flags = 0;
  REQUIRE(cuCtxGetFlags(&flags));
  expect("kept", flags & CU_CTX_SCHED_MASK, unsigned{CU_CTX_SCHED_SPIN});
  expect_code("unknown", cuCtxSetFlags(0x4000), CUDA_ERROR_INVALID_VALUE);
  expect_code("two schedules", cuCtxSetFlags(7), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxSetFlags, needs_a_context, initialised) {
  expect_code("none", cuCtxSetFlags(0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxSetFlags, change_the_schedule) {
  CUcontext made = nullptr;
  unsigned flags = 99;
  REQUIRE(cuCtxCreate(&made, nullptr, CU_CTX_SCHED_SPIN, 0));
  expect_code("sets", cuCtxSetFlags(CU_CTX_SCHED_YIELD), CUDA_SUCCESS);
  REQUIRE(cuCtxGetFlags(&flags));
  expect("read back", flags & CU_CTX_SCHED_MASK, unsigned(CU_CTX_SCHED_YIELD));
  expect_code("two schedules", cuCtxSetFlags(CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown", cuCtxSetFlags(0x100), CUDA_ERROR_INVALID_VALUE);
  expect_code("no known flag at all", cuCtxSetFlags(~0u), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuCtxGetFlags(&flags));
  expect("errors change nothing", flags & CU_CTX_SCHED_MASK, unsigned(CU_CTX_SCHED_YIELD));
  expect_code("none", cuCtxSetFlags(0), CUDA_SUCCESS);
  REQUIRE(cuCtxGetFlags(&flags));
  expect("automatic again", flags & CU_CTX_SCHED_MASK, 0u);
}

CONFORM_WITH(cuCtxSetFlags, needs_a_context_too, initialised) {
  expect_code("no context", cuCtxSetFlags(0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxSetFlags, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxSetFlags(0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
