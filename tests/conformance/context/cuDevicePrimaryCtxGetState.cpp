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

CONFORM_WITH(cuDevicePrimaryCtxGetState, follows_its_life_too, initialised) {
  unsigned flags = 99;
  int active = 99;
  expect_code("before", cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  expect("inactive", active, 0);
  expect("no flags", flags, 0u);
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  expect_code("retained", cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  expect("active", active, 1);
  REQUIRE(cuDevicePrimaryCtxRelease(0));
  expect_code("released", cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  expect("inactive again", active, 0);
}

CONFORM_WITH(cuDevicePrimaryCtxGetState, wrong_arguments, initialised) {
  unsigned flags = 0;
  int active = 0;
  expect_code("no flags", cuDevicePrimaryCtxGetState(0, nullptr, &active),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no state", cuDevicePrimaryCtxGetState(0, &flags, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("neither", cuDevicePrimaryCtxGetState(0, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDevicePrimaryCtxGetState(99, &flags, &active),
              CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDevicePrimaryCtxGetState, needs_cuInit, nothing) {
  unsigned flags;
  int active;
  expect_code("not initialised", cuDevicePrimaryCtxGetState(0, &flags, &active),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
