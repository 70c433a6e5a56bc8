#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, as_without_flags) {
  CUfunction nothing = function_of(load_module(launches_text), "nothing");
  int blocks = 0, plain = 0;
  REQUIRE(cuOccupancyMaxActiveBlocksPerMultiprocessor(&plain, nothing, 128, 1024));
  expect_code("default",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nothing, 128, 1024,
                                                                   CU_OCCUPANCY_DEFAULT),
              CUDA_SUCCESS);
  expect_true("the same", blocks == plain && blocks > 0);
  blocks = 0;
  expect_code("caching off",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                  &blocks, nothing, 128, 1024, CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE),
              CUDA_SUCCESS);
  expect_true("some", blocks > 0);
  expect_code("unknown flag",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nothing, 128, 0, 2),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(nullptr, nothing, 128, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nothing, 0, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nullptr, 128, 0, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, needs_a_context, initialised) {
  int b;
  expect_code("no context",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&b, nullptr, 32, 0, 0),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, needs_cuInit, nothing) {
  int b;
  expect_code("not initialised",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&b, nullptr, 32, 0, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
