#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDevicePrimaryCtxRetain, one_context_a_device, initialised) {
  CUcontext one = nullptr, two = nullptr;
  expect_code("first", cuDevicePrimaryCtxRetain(&one, 0), CUDA_SUCCESS);
  expect_code("second", cuDevicePrimaryCtxRetain(&two, 0), CUDA_SUCCESS);
  expect_true("the same", one == two);
  int active = 0;
  unsigned flags = 0;
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("active", active, 1);
  REQUIRE(cuDevicePrimaryCtxRelease(0));
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("still", active, 1);
  expect_code("no result", cuDevicePrimaryCtxRetain(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDevicePrimaryCtxRetain(&one, 99), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
