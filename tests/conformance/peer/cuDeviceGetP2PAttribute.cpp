#include "conformance/conform.h"

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

}  // namespace limen::conform
