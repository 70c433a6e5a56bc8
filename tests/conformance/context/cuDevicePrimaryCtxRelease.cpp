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

CONFORM(cuDevicePrimaryCtxRelease, the_last_release_ends_it) {
  CUdeviceptr address = 0;
  int active = -1;
  unsigned flags = 0;
  REQUIRE(cuMemAlloc(&address, 1 << 16));
  expect_code("releases", cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("inactive", active, 0);
  expect_code("once too often", cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
  CUcontext now = nullptr;
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("still on the stack", now != nullptr);
  expect_code("but destroyed", cuMemAlloc(&address, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUcontext again = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&again, 0));
  REQUIRE(cuCtxSetCurrent(again));
  expect_code("a new life", cuMemAlloc(&address, 16), CUDA_SUCCESS);
}

CONFORM_WITH(cuDevicePrimaryCtxRelease, of_two_uses, initialised) {
  CUcontext context = nullptr;
  int active = -1;
  unsigned flags = 0;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  expect_code("one", cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("active", active, 1);
  expect_code("two", cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("not any more", active, 0);
  expect_code("never retained", cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("no device", cuDevicePrimaryCtxRelease(99), CUDA_ERROR_INVALID_DEVICE);
  expect_code("negative device", cuDevicePrimaryCtxRelease(-1), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDevicePrimaryCtxRelease, the_first_abi_forgives, initialised) {
  auto first = reinterpret_cast<CUresult (*)(CUdevice)>(driver_symbol("cuDevicePrimaryCtxRelease"));
  // measured H200, driver 580.159: null_arguments_h200.txt
  expect_code("never retained", first(0), CUDA_SUCCESS);
  expect_code("no device", first(99), CUDA_ERROR_INVALID_DEVICE);
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  expect_code("releases", first(0), CUDA_SUCCESS);
  expect_code("nothing is left", cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuDevicePrimaryCtxRelease, needs_cuInit, nothing) {
  expect_code("not initialised", cuDevicePrimaryCtxRelease(0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
