#include "conformance/conform.h"
#include "conformance/two_devices.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetP2PAttribute, wrong_arguments, initialised) {
  int value = -1;
  expect_code("same device",
              cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("no device",
              cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 99),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("no result",
              cuDeviceGetP2PAttribute(nullptr, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuDeviceGetP2PAttribute, two_devices, initialised) {
  int count = 0, value = -1;
  REQUIRE(cuDeviceGetCount(&count));
  if (count < 2) skip("one device");
  expect_code("access",
              cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1),
              CUDA_SUCCESS);
  expect("yes", value, 1);
  expect_code(
      "atomics",
      cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 0, 1),
      CUDA_SUCCESS);
  expect("native", value, 1);
  expect_code("unknown",
              cuDeviceGetP2PAttribute(&value, static_cast<CUdevice_P2PAttribute>(77), 0, 1),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuDeviceGetP2PAttribute, wrong_arguments_too, initialised) {
  int value = -1;
  expect_code("no result",
              cuDeviceGetP2PAttribute(nullptr, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("itself",
              cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("no source",
              cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 99, 0),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("no target",
              cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 99),
              CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceGetP2PAttribute, two_devices_too, nothing) {
  TwoContexts contexts;
  int can = -1, value = -1;
  REQUIRE(cuDeviceCanAccessPeer(&can, 0, 1));
  expect_code("access",
              cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1),
              CUDA_SUCCESS);
  expect("as cuDeviceCanAccessPeer", value, can);
  expect_code("rank",
              cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 1),
              CUDA_SUCCESS);
  expect_code(
      "atomics",
      cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 0, 1),
      CUDA_SUCCESS);
  expect_code(
      "arrays",
      cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED, 0, 1),
      CUDA_SUCCESS);
  expect_true("yes or no", value == 0 || value == 1);
  expect_code("no attribute", cuDeviceGetP2PAttribute(&value, CUdevice_P2PAttribute(0), 0, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown attribute", cuDeviceGetP2PAttribute(&value, CUdevice_P2PAttribute(99), 0, 1),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuDeviceGetP2PAttribute, needs_cuInit, nothing) {
  int value;
  expect_code("not initialised",
              cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
