#include "conformance/conform.h"
#include "conformance/two_devices.h"

namespace limen::conform {

CONFORM(cuStreamGetDevice, of_its_context) {
  CUdevice device = -1;
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  expect_code("stream", cuStreamGetDevice(stream, &device), CUDA_SUCCESS);
  expect("first", device, 0);
  expect_code("no result", cuStreamGetDevice(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuStreamGetDevice, of_every_kind_of_stream) {
  CUstream stream = nullptr;
  CUdevice device = -5;
  REQUIRE(cuStreamCreate(&stream, 0));
  expect_code("asks", cuStreamGetDevice(stream, &device), CUDA_SUCCESS);
  expect("the first", device, 0);
  device = -5;
  expect_code("null", cuStreamGetDevice(nullptr, &device), CUDA_SUCCESS);
  expect("the first too", device, 0);
  device = -5;
  expect_code("per thread", cuStreamGetDevice(CU_STREAM_PER_THREAD, &device), CUDA_SUCCESS);
  expect("the same", device, 0);
  expect_code("no result", cuStreamGetDevice(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuStreamDestroy(stream));
  expect_code("destroyed", cuStreamGetDevice(stream, &device), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuStreamGetDevice, of_the_other_device, nothing) {
  TwoContexts contexts;
  REQUIRE(cuCtxSetCurrent(contexts.second));
  CUstream stream = nullptr;
  CUdevice device = -5;
  REQUIRE(cuStreamCreate(&stream, 0));
  REQUIRE(cuCtxSetCurrent(contexts.first));
  expect_code("asks", cuStreamGetDevice(stream, &device), CUDA_SUCCESS);
  expect("the second", device, 1);
}

CONFORM_WITH(cuStreamGetDevice, needs_a_context, initialised) {
  CUdevice device;
  expect_code("no context", cuStreamGetDevice(nullptr, &device), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamGetDevice, needs_cuInit, nothing) {
  CUdevice device;
  expect_code("not initialised", cuStreamGetDevice(nullptr, &device), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
