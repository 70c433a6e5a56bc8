#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDevicePrimaryCtxSetFlags, are_the_context_s, initialised) {
  expect_code("before", cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD), CUDA_SUCCESS);
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  REQUIRE(cuCtxSetCurrent(context));
  unsigned flags = 0;
  REQUIRE(cuCtxGetFlags(&flags));
  expect("yields", flags & CU_CTX_SCHED_MASK, unsigned{CU_CTX_SCHED_YIELD});
  expect_code("while active", cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN), CUDA_SUCCESS);
  REQUIRE(cuCtxGetFlags(&flags));
  expect("spins", flags & CU_CTX_SCHED_MASK, unsigned{CU_CTX_SCHED_SPIN});
  expect_code("unknown", cuDevicePrimaryCtxSetFlags(0, 0x1000), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDevicePrimaryCtxSetFlags(99, 0), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
