#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuOccupancyAvailableDynamicSMemPerBlock, leaves_room_for_all) {
  CUfunction kernel = common_kernel("store");
  size_t one = 0, many = 0;
  expect_code("one block", cuOccupancyAvailableDynamicSMemPerBlock(&one, kernel, 1, 128),
              CUDA_SUCCESS);
  expect("48 KiB", one, 49152u);
  expect_code("sixteen", cuOccupancyAvailableDynamicSMemPerBlock(&many, kernel, 16, 128),
              CUDA_SUCCESS);
  int blocks = 0;
  REQUIRE(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, many));
  expect("they fit with that", blocks, 16);
  expect_code("no blocks", cuOccupancyAvailableDynamicSMemPerBlock(&many, kernel, 0, 128),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuOccupancyAvailableDynamicSMemPerBlock(nullptr, kernel, 1, 128),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
