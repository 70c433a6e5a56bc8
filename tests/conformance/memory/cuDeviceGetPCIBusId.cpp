#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetPCIBusId, leads_back_to_the_device, initialised) {
  char id[32];
  std::memset(id, 'x', sizeof id);
  expect_code("asks", cuDeviceGetPCIBusId(id, 13, 0), CUDA_SUCCESS);
  expect("12 letters", std::strlen(id), 12u);
  expect_true("the separators", id[4] == ':' && id[7] == ':' && id[10] == '.');
  CUdevice device = -1;
  REQUIRE(cuDeviceGetByPCIBusId(&device, id));
  expect("the same device", device, 0);
  std::memset(id, 'x', sizeof id);
  expect_code("a long buffer", cuDeviceGetPCIBusId(id, sizeof id, 0), CUDA_SUCCESS);
  expect("the same length", std::strlen(id), 12u);
}

CONFORM_WITH(cuDeviceGetPCIBusId, wrong_arguments, initialised) {
  char id[32];
  expect_code("no buffer", cuDeviceGetPCIBusId(nullptr, 32, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuDeviceGetPCIBusId(id, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("12 bytes", cuDeviceGetPCIBusId(id, 12, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuDeviceGetPCIBusId(id, -1, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetPCIBusId(id, 32, 99), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceGetPCIBusId, needs_cuInit, nothing) {
  char id[32];
  expect_code("not initialised", cuDeviceGetPCIBusId(id, 32, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
