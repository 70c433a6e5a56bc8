#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuOccupancyMaxPotentialClusterSize, grows_with_leave) {
  CUfunction kernel = common_kernel("store");
  CUlaunchConfig config{};
  config.gridDimX = 64;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 128;
  int size = -1;
  expect_code("portable", cuOccupancyMaxPotentialClusterSize(&size, kernel, &config), CUDA_SUCCESS);
  expect("8 blocks", size, 8);
  REQUIRE(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  expect_code("others", cuOccupancyMaxPotentialClusterSize(&size, kernel, &config), CUDA_SUCCESS);
  expect("16 blocks", size, 16);
  expect_code("no result", cuOccupancyMaxPotentialClusterSize(nullptr, kernel, &config),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no configuration", cuOccupancyMaxPotentialClusterSize(&size, kernel, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuOccupancyMaxPotentialClusterSize(&size, nullptr, &config),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
