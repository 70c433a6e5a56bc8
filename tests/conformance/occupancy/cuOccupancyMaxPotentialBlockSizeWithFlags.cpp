#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuOccupancyMaxPotentialBlockSizeWithFlags, as_without_flags) {
  CUfunction sizes = function_of(load_module(sizes_text), "sizes");
  int grid = 0, block = 0, plain_grid = 0, plain_block = 0;
  REQUIRE(cuOccupancyMaxPotentialBlockSize(&plain_grid, &plain_block, sizes, nullptr, 0, 0));
  expect_code("default",
              cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, sizes, nullptr, 0, 0,
                                                        CU_OCCUPANCY_DEFAULT),
              CUDA_SUCCESS);
  expect_true("the same", grid == plain_grid && block == plain_block);
  expect(".maxntid threads", block, 128);
  expect_code("caching off",
              cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, sizes, nullptr, 0, 0,
                                                        CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE),
              CUDA_SUCCESS);
  expect_code("unknown flag",
              cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, sizes, nullptr, 0, 0, 2),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no grid",
              cuOccupancyMaxPotentialBlockSizeWithFlags(nullptr, &block, sizes, nullptr, 0, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no block",
              cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, nullptr, sizes, nullptr, 0, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function",
              cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, nullptr, nullptr, 0, 0, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuOccupancyMaxPotentialBlockSizeWithFlags, needs_a_context, initialised) {
  int g, b;
  expect_code("no context",
              cuOccupancyMaxPotentialBlockSizeWithFlags(&g, &b, nullptr, nullptr, 0, 0, 0),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuOccupancyMaxPotentialBlockSizeWithFlags, needs_cuInit, nothing) {
  int g, b;
  expect_code("not initialised",
              cuOccupancyMaxPotentialBlockSizeWithFlags(&g, &b, nullptr, nullptr, 0, 0, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
