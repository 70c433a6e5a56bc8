#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxGetDevice, of_current_and_named) {
  CUdevice device = -1;
  CUcontext current = nullptr;
  expect_code("current", cuCtxGetDevice(&device, nullptr), CUDA_SUCCESS);
  expect("first", device, 0);
  REQUIRE(cuCtxGetCurrent(&current));
  device = -1;
  expect_code("named", cuCtxGetDevice(&device, current), CUDA_SUCCESS);
  expect("first again", device, 0);
  expect_code("no result", cuCtxGetDevice(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxGetDevice, needs_a_context, initialised) {
  CUdevice device = -1;
  expect_code("none", cuCtxGetDevice(&device, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
