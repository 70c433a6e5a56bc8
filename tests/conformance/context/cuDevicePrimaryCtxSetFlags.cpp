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

CONFORM_WITH(cuDevicePrimaryCtxSetFlags, are_read_back, initialised) {
  unsigned flags = 99;
  int active = 99;
  expect_code("before it lives", cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC),
              CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("blocking", flags & CU_CTX_SCHED_MASK, unsigned(CU_CTX_SCHED_BLOCKING_SYNC));
  expect("still inactive", active, 0);
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  REQUIRE(cuCtxSetCurrent(context));
  REQUIRE(cuCtxGetFlags(&flags));
  expect("the context has them", flags & CU_CTX_SCHED_MASK, unsigned(CU_CTX_SCHED_BLOCKING_SYNC));
  expect_code("while it lives", cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN), CUDA_SUCCESS);
  REQUIRE(cuCtxGetFlags(&flags));
  expect("changed", flags & CU_CTX_SCHED_MASK, unsigned(CU_CTX_SCHED_SPIN));
}

CONFORM_WITH(cuDevicePrimaryCtxSetFlags, wrong_arguments, initialised) {
  expect_code("two schedules",
              cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuDevicePrimaryCtxSetFlags(0, 0x100), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDevicePrimaryCtxSetFlags(99, 0), CUDA_ERROR_INVALID_DEVICE);
  expect_code("negative device", cuDevicePrimaryCtxSetFlags(-1, 0), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDevicePrimaryCtxSetFlags, the_first_abi_wants_it_inactive, initialised) {
  auto first = reinterpret_cast<CUresult (*)(CUdevice, unsigned)>(
      driver_symbol("cuDevicePrimaryCtxSetFlags"));
  CUcontext context = nullptr;
  expect_code("inactive", first(0, CU_CTX_SCHED_YIELD), CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  // measured H200, driver 580.159: null_arguments_h200.txt
  expect_code("active", first(0, 0), CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE);
}

CONFORM_WITH(cuDevicePrimaryCtxSetFlags, needs_cuInit, nothing) {
  expect_code("not initialised", cuDevicePrimaryCtxSetFlags(0, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
