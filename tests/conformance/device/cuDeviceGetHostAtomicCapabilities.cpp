#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetHostAtomicCapabilities, answers_each_operation, initialised) {
  CUatomicOperation operations[] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_CAS};
  unsigned capabilities[2] = {0x8000, 0x8000};
  expect_code("two", cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0),
              CUDA_SUCCESS);
  expect_true("both written", capabilities[0] != 0x8000 && capabilities[1] != 0x8000);
  int native = 0;
  REQUIRE(cuDeviceGetAttribute(&native, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 0));
  const bool has32 = capabilities[0] & CU_ATOMIC_CAPABILITY_SCALAR_32;
  expect_true("agrees with the attribute", !native || has32);
  expect_code("none", cuDeviceGetHostAtomicCapabilities(capabilities, operations, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  operations[1] = CU_ATOMIC_OPERATION_MAX;
  expect_code("unknown operation",
              cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetHostAtomicCapabilities(capabilities, operations, 1, 99),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("no result", cuDeviceGetHostAtomicCapabilities(nullptr, operations, 1, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
