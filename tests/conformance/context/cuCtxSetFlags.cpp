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

}  // namespace limen::conform
