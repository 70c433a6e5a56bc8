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

}  // namespace limen::conform
