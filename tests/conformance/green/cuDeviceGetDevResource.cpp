#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuDeviceGetDevResource, multiprocessors) {
  CUdevResource all{};
  expect_code("get", cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  int count = 0;
  REQUIRE(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  expect("type", all.type, CU_DEV_RESOURCE_TYPE_SM);
  expect_true("all of them", all.sm.smCount == static_cast<unsigned>(count));
  expect("least partition", all.sm.minSmPartitionSize, 8u);
  expect("alignment", all.sm.smCoscheduledAlignment, 8u);
}

CONFORM(cuDeviceGetDevResource, wrong_arguments) {
  CUdevResource all{};
  expect_code("no result", cuDeviceGetDevResource(0, nullptr, CU_DEV_RESOURCE_TYPE_SM),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetDevResource(999, &all, CU_DEV_RESOURCE_TYPE_SM),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("no type", cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_INVALID),
              CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

}  // namespace limen::conform
