#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDevicePrimaryCtxGetState, follows_its_life, initialised) {
  unsigned flags = 99;
  int active = 99;
  expect_code("before", cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  expect("inactive", active, 0);
  expect("no flags", flags, 0u);
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  expect_code("after", cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  expect("active", active, 1);
  expect_code("no device", cuDevicePrimaryCtxGetState(99, &flags, &active),
              CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
