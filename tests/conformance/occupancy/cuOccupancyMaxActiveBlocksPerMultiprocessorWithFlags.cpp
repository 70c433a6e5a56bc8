#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {
namespace {

constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry bounded() .maxntid 128, 1, 1 { ret; }
.visible .entry greedy() {
  .shared .align 4 .b8 room[40000];
  .reg .b32 %x;
  mov.u32 %x, room;
  st.shared.u32 [%x], %x;
  ret;
}
)";

}  // namespace

CONFORM(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, by_threads_and_shared_memory) {
  CUfunction plain = common_kernel("store"), greedy = load_kernel(ptx, "greedy");
  int blocks = -1;
  expect_code("1024 threads",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 1024, 0,
                                                                   CU_OCCUPANCY_DEFAULT),
              CUDA_SUCCESS);
  expect("two blocks", blocks, 2);
  expect_code("32 threads",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 32, 0,
                                                                   CU_OCCUPANCY_DEFAULT),
              CUDA_SUCCESS);
  expect("32 blocks", blocks, 32);
  expect_code("40000 bytes",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, greedy, 32, 0,
                                                                   CU_OCCUPANCY_DEFAULT),
              CUDA_SUCCESS);
  expect("five blocks", blocks, 5);
  expect_code("more threads than allowed",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                  &blocks, load_kernel(ptx, "bounded"), 256, 0, CU_OCCUPANCY_DEFAULT),
              CUDA_SUCCESS);
  expect("none", blocks, 8);
  expect_code("no threads",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 0, 0,
                                                                   CU_OCCUPANCY_DEFAULT),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(nullptr, plain, 128, 0,
                                                                   CU_OCCUPANCY_DEFAULT),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flags",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 128, 0, 8),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, needs_a_context, initialised) {
  int blocks = -1;
  expect_code("none",
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nullptr, 128, 0,
                                                                   CU_OCCUPANCY_DEFAULT),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, as_without_flags) {
  CUfunction nothing = function_in(module_of_text(launches_text), "nothing");
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

CONFORM_WITH(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, needs_a_context_too,
             initialised) {
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
