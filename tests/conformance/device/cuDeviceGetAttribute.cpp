#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetAttribute, what_programs_count_on, initialised) {
  int value = -1;
  expect_code("warp", cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), CUDA_SUCCESS);
  expect("32", value, 32);
  REQUIRE(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0));
  expect("threads a block", value, 1024);
  REQUIRE(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 0));
  expect("unified addresses", value, 1);
  REQUIRE(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1, 0));
  expect("first stream memory operations", value, 0);
  REQUIRE(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 0));
  expect("wait for nor", value, 1);
  REQUIRE(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH, 0));
  expect("cooperative on several devices", value, 1);  // to measure on H200
  REQUIRE(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 0));
  expect("memory domains", value, 4);  // to measure on H200
  expect_code("unknown", cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(5000), 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99),
              CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
