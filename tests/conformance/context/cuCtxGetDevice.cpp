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

CONFORM(cuCtxGetDevice, of_the_current_or_a_named_context) {
  CUdevice device = -5;
  CUcontext primary = nullptr, made = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  expect_code("the current", cuCtxGetDevice(&device, nullptr), CUDA_SUCCESS);
  expect("the first device", device, 0);
  device = -5;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  REQUIRE(cuCtxPopCurrent(&made));
  expect_code("a named one", cuCtxGetDevice(&device, made), CUDA_SUCCESS);
  expect("the first device too", device, 0);
  expect_code("no result", cuCtxGetDevice(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuCtxDestroy(made));
  expect_code("destroyed", cuCtxGetDevice(&device, made), CUDA_SUCCESS);
  auto first = reinterpret_cast<CUresult (*)(CUdevice*)>(driver_symbol("cuCtxGetDevice"));
  device = -5;
  expect_code("first ABI", first(&device), CUDA_SUCCESS);
  expect("its device", device, 0);
  expect_code("first ABI, no result", first(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuCtxGetDevice, foreign_memory) {
  CUdevice device;
  expect_code("refused", cuCtxGetDevice(&device, foreign_handle<CUcontext>()),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CONFORM_WITH(cuCtxGetDevice, a_named_context_without_a_current_one, initialised) {
  CUcontext primary = nullptr;
  CUdevice device = -5;
  REQUIRE(cuDevicePrimaryCtxRetain(&primary, 0));
  expect_code("asks", cuCtxGetDevice(&device, primary), CUDA_SUCCESS);
  expect("its device", device, 0);
}

CONFORM_WITH(cuCtxGetDevice, needs_a_context_too, initialised) {
  CUdevice device;
  expect_code("no context", cuCtxGetDevice(&device, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxGetDevice, needs_cuInit, nothing) {
  CUdevice device;
  expect_code("not initialised", cuCtxGetDevice(&device, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
