#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDevicePrimaryCtxRelease, the_last_one_ends_it, initialised) {
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  expect_code("release", cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  int active = 1;
  unsigned flags = 0;
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("inactive", active, 0);
  expect_code("once too often", cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("no device", cuDevicePrimaryCtxRelease(99), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
