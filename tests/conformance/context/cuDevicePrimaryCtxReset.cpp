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

}  // namespace limen::conform
