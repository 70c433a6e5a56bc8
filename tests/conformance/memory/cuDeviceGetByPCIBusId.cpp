#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetByPCIBusId, finds_the_device, initialised) {
  char text[32] = {};
  CUdevice device = -1;
  REQUIRE(cuDeviceGetPCIBusId(text, sizeof text, 0));
  expect_code("by its name", cuDeviceGetByPCIBusId(&device, text), CUDA_SUCCESS);
  expect("device 0", device, 0);
}

CONFORM_WITH(cuDeviceGetByPCIBusId, wrong_arguments, initialised) {
  CUdevice device = -1;
  expect_code("no result", cuDeviceGetByPCIBusId(nullptr, "0000:00:00.0"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no name", cuDeviceGetByPCIBusId(&device, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no such device", cuDeviceGetByPCIBusId(&device, "00ff:3e:1f.0"),
              CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
