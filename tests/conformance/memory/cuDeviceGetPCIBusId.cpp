#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetPCIBusId, names_the_device, initialised) {
  char text[32] = {};
  CUdevice device = -1;
  expect_code("asks", cuDeviceGetPCIBusId(text, sizeof text, 0), CUDA_SUCCESS);
  expect("domain:bus:device.function", std::strlen(text), size_t{12});
  expect_true("separators", text[4] == ':' && text[7] == ':' && text[10] == '.');
  REQUIRE(cuDeviceGetByPCIBusId(&device, text));
  expect("the same device", device, 0);
}

CONFORM_WITH(cuDeviceGetPCIBusId, wrong_arguments, initialised) {
  char text[32] = {};
  expect_code("no result", cuDeviceGetPCIBusId(nullptr, 32, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("too short", cuDeviceGetPCIBusId(text, 5, 0),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  expect_code("no such device", cuDeviceGetPCIBusId(text, sizeof text, 1000),
              CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
