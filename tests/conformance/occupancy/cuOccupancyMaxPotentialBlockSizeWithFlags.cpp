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

size_t by_size(int block_size) { return static_cast<size_t>(block_size) * 64; }

}  // namespace

CONFORM(cuOccupancyMaxPotentialBlockSizeWithFlags, keeps_the_limits) {
  CUfunction bounded = load_kernel(ptx, "bounded");
  int grid = -1, block = -1, sms = 0;
  REQUIRE(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  expect_code("of the kernel",
              cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, bounded, nullptr, 0, 0,
                                                        CU_OCCUPANCY_DEFAULT),
              CUDA_SUCCESS);
  expect("128 threads", block, 128);
  expect_true("all multiprocessors filled", grid == 16 * sms);
  expect_code("of the caller",
              cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, bounded, nullptr, 0, 64,
                                                        CU_OCCUPANCY_DEFAULT),
              CUDA_SUCCESS);
  expect("64 threads", block, 64);
  expect_code("with shared memory by size",
              cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, common_kernel("store"),
                                                        by_size, 0, 0, CU_OCCUPANCY_DEFAULT),
              CUDA_SUCCESS);
  expect_true("a block fits", block > 0 && block * 64 <= 49152);
  expect_code("no result",
              cuOccupancyMaxPotentialBlockSizeWithFlags(nullptr, &block, bounded, nullptr, 0, 0,
                                                        CU_OCCUPANCY_DEFAULT),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuOccupancyMaxPotentialBlockSizeWithFlags, as_without_flags) {
  CUfunction sizes = function_in(module_of_text(sizes_text), "sizes");
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
