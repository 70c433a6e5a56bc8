#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetP2PAtomicCapabilities, wrong_arguments, initialised) {
  CUatomicOperation operation = CU_ATOMIC_OPERATION_INTEGER_ADD;
  unsigned capability = 0;
  expect_code("same device", cuDeviceGetP2PAtomicCapabilities(&capability, &operation, 1, 0, 0),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("no device", cuDeviceGetP2PAtomicCapabilities(&capability, &operation, 1, 0, 99),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("no result", cuDeviceGetP2PAtomicCapabilities(nullptr, &operation, 1, 0, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("none", cuDeviceGetP2PAtomicCapabilities(&capability, &operation, 0, 0, 1),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuDeviceGetP2PAtomicCapabilities, of_two_devices, initialised) {
  int count = 0;
  REQUIRE(cuDeviceGetCount(&count));
  if (count < 2) skip("one device");
  CUatomicOperation operation = CU_ATOMIC_OPERATION_INTEGER_ADD;
  unsigned capability = 0x8000;
  expect_code("two", cuDeviceGetP2PAtomicCapabilities(&capability, &operation, 1, 0, 1),
              CUDA_SUCCESS);
  expect_true("written", capability != 0x8000);
}

}  // namespace limen::conform
