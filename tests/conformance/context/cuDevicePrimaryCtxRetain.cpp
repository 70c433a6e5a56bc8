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

CONFORM_WITH(cuDevicePrimaryCtxRetain, one_context_for_all, initialised) {
  CUcontext one = nullptr, two = nullptr;
  int active = -1;
  unsigned flags = 0;
  expect_code("retains", cuDevicePrimaryCtxRetain(&one, 0), CUDA_SUCCESS);
  expect_code("again", cuDevicePrimaryCtxRetain(&two, 0), CUDA_SUCCESS);
  expect_true("the same", one == two && one);
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("active", active, 1);
  CUcontext now = one;
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("not made current", now == nullptr);
  REQUIRE(cuCtxSetCurrent(one));
  CUdeviceptr address = 0;
  expect_code("it works", cuMemAlloc(&address, 16), CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxRelease(0));
  expect_code("one use is left", cuMemFree(address), CUDA_SUCCESS);
  expect_code("no result", cuDevicePrimaryCtxRetain(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDevicePrimaryCtxRetain(&one, 99), CUDA_ERROR_INVALID_DEVICE);
  expect_code("negative device", cuDevicePrimaryCtxRetain(&one, -1), CUDA_ERROR_INVALID_DEVICE);
  expect_code("neither", cuDevicePrimaryCtxRetain(nullptr, 99), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDevicePrimaryCtxRetain, needs_cuInit, nothing) {
  CUcontext context;
  expect_code("not initialised", cuDevicePrimaryCtxRetain(&context, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
