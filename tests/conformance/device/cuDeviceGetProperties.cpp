#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetProperties, agree_with_the_attributes, initialised) {
  CUdevprop all{};
  expect_code("get", cuDeviceGetProperties(&all, 0), CUDA_SUCCESS);
  expect("threads a block", all.maxThreadsPerBlock, 1024);
  expect("warp", all.SIMDWidth, 32);
  expect("layers of threads", all.maxThreadsDim[2], 64);
  expect("rows of blocks", all.maxGridSize[1], 65535);
  expect_code("no result", cuDeviceGetProperties(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetProperties(&all, 99), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceGetProperties, are_those_of_the_attributes, initialised) {
  CUdevprop properties;
  std::memset(&properties, 0, sizeof properties);
  expect_code("asks", cuDeviceGetProperties(&properties, 0), CUDA_SUCCESS);
  expect("threads of a block", properties.maxThreadsPerBlock, 1024);
  expect("block x", properties.maxThreadsDim[0], 1024);
  expect("block z", properties.maxThreadsDim[2], 64);
  expect("grid x", properties.maxGridSize[0], 0x7fffffff);
  expect("grid y", properties.maxGridSize[1], 65535);
  expect("shared memory", properties.sharedMemPerBlock, 49152);
  expect("constant memory", properties.totalConstantMemory, 65536);
  expect("lanes", properties.SIMDWidth, 32);
  expect("pitch", properties.memPitch, 0x7fffffff);
  expect("texture alignment", properties.textureAlign, 512);
  expect_true("registers", properties.regsPerBlock >= 32768);
  expect_code("no result", cuDeviceGetProperties(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetProperties(&properties, 99), CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceGetProperties, needs_cuInit, nothing) {
  CUdevprop properties;
  expect_code("not initialised", cuDeviceGetProperties(&properties, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
