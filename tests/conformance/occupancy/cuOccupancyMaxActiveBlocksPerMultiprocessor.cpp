#include "conformance/conform.h"

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

CONFORM(cuOccupancyMaxActiveBlocksPerMultiprocessor, by_threads_and_shared_memory) {
  CUfunction plain = common_kernel("store"), greedy = load_kernel(ptx, "greedy");
  int blocks = -1;
  expect_code("1024 threads", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 1024, 0),
              CUDA_SUCCESS);
  expect("two blocks", blocks, 2);
  expect_code("32 threads", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 0),
              CUDA_SUCCESS);
  expect("32 blocks", blocks, 32);
  expect_code("40000 bytes", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, greedy, 32, 0),
              CUDA_SUCCESS);
  expect("five blocks", blocks, 5);
  expect_code(
      "more threads than allowed",
      cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, load_kernel(ptx, "bounded"), 256, 0),
      CUDA_SUCCESS);
  expect("none", blocks, 0);
  expect_code("no threads", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, plain, 128, 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuOccupancyMaxActiveBlocksPerMultiprocessor, needs_a_context, initialised) {
  int blocks = -1;
  expect_code("none", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nullptr, 128, 0),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
