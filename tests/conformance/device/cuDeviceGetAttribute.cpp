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
  expect("cooperative on several devices", value, 1);
  REQUIRE(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 0));
  expect("memory domains", value, 4);
  expect_code("unknown", cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(5000), 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99),
              CUDA_ERROR_INVALID_DEVICE);
}

namespace {

int attribute(CUdevice_attribute which) {
  int value = -77;
  REQUIRE(cuDeviceGetAttribute(&value, which, 0));
  return value;
}

}  // namespace

CONFORM_WITH(cuDeviceGetAttribute, what_every_device_of_this_kind_has, initialised) {
  int value = 0;
  expect_code("warp size", cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
              CUDA_SUCCESS);
  expect("32 lanes", value, 32);
  expect("threads of a block", attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  expect("block x", attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), 1024);
  expect("block y", attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y), 1024);
  expect("block z", attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z), 64);
  expect("grid x", attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), 0x7fffffff);
  expect("grid y", attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y), 65535);
  expect("grid z", attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z), 65535);
  expect("shared memory", attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 49152);
  expect("constant memory", attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY), 65536);
  expect("unified addressing", attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
  expect("managed memory", attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY), 1);
  expect("memory pools", attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), 1);
  expect("cooperative launch", attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH), 1);
  expect("texture alignment", attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT), 512);
  expect("compute mode", attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE), 0);
  expect("NUMA node", attribute(CU_DEVICE_ATTRIBUTE_NUMA_ID), -1);
  expect_true("multiprocessors", attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) > 0);
}

CONFORM_WITH(cuDeviceGetAttribute, every_number_of_the_list_is_answered, initialised) {
  int refused = 0, value = 0;
  for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; ++i)
    refused += cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(i), 0) != CUDA_SUCCESS;
  expect("none refused", refused, 0);
}

CONFORM_WITH(cuDeviceGetAttribute, wrong_arguments, initialised) {
  int value = 0;
  expect_code("zero", cuDeviceGetAttribute(&value, CUdevice_attribute(0), 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("the end of the list", cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown", cuDeviceGetAttribute(&value, CUdevice_attribute(9999), 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuDeviceGetAttribute(&value, CUdevice_attribute(-1), 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("negative device", cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, -1),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("unknown of no device", cuDeviceGetAttribute(&value, CUdevice_attribute(9999), 99),
              CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceGetAttribute, needs_cuInit, nothing) {
  int value;
  expect_code("not initialised", cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
