#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuStreamGetDevice, of_its_context) {
  CUdevice device = -1;
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  expect_code("stream", cuStreamGetDevice(stream, &device), CUDA_SUCCESS);
  expect("first", device, 0);
  expect_code("no result", cuStreamGetDevice(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
