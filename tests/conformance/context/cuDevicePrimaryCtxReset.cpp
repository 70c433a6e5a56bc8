#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuDevicePrimaryCtxReset, frees_everything) {
  CUdeviceptr memory = 0;
  REQUIRE(cuMemAlloc(&memory, 4096));
  expect_code("reset", cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  expect_code("its memory is gone", cuMemFree(memory), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUcontext again = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&again, 0));
  REQUIRE(cuCtxSetCurrent(again));
  expect_code("and usable anew", cuMemAlloc(&memory, 4096), CUDA_SUCCESS);
  expect_code("no device", cuDevicePrimaryCtxReset(99), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM(cuDevicePrimaryCtxReset, ends_what_it_owned) {
  CUdeviceptr address = 0;
  CUstream stream = nullptr;
  int active = -1;
  unsigned flags = 0;
  REQUIRE(cuMemAlloc(&address, 1 << 16));
  REQUIRE(cuStreamCreate(&stream, 0));
  expect_code("resets", cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("inactive", active, 0);
  expect_code("its stream", cuStreamQuery(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  expect_code("using it", cuMemAlloc(&address, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUcontext again = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&again, 0));
  REQUIRE(cuCtxSetCurrent(again));
  expect_code("a new life", cuMemAlloc(&address, 16), CUDA_SUCCESS);
}

CONFORM(cuDevicePrimaryCtxReset, a_failed_context_lives_again) {
  REQUIRE(launch(common_kernel("trap"), 1, 1, nullptr));
  expect_code("the failure", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  expect_code("resets", cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
}

CONFORM_WITH(cuDevicePrimaryCtxReset, of_none, initialised) {
  unsigned flags = 0;
  int active = -1;
  expect_code("inactive", cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  expect("stays inactive", active, 0);
  expect_code("no device", cuDevicePrimaryCtxReset(99), CUDA_ERROR_INVALID_DEVICE);
  expect_code("negative device", cuDevicePrimaryCtxReset(-1), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDevicePrimaryCtxReset, needs_cuInit, nothing) {
  expect_code("not initialised", cuDevicePrimaryCtxReset(0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
