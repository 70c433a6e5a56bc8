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

}  // namespace limen::conform
