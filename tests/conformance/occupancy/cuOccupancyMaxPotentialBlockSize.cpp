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

CONFORM(cuOccupancyMaxPotentialBlockSize, keeps_the_limits) {
  CUfunction bounded = load_kernel(ptx, "bounded");
  int grid = -1, block = -1, sms = 0;
  REQUIRE(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  expect_code("of the kernel",
              cuOccupancyMaxPotentialBlockSize(&grid, &block, bounded, nullptr, 0, 0),
              CUDA_SUCCESS);
  expect("128 threads", block, 128);
  expect_true("all multiprocessors filled", grid == 16 * sms);
  expect_code("of the caller",
              cuOccupancyMaxPotentialBlockSize(&grid, &block, bounded, nullptr, 0, 64),
              CUDA_SUCCESS);
  expect("64 threads", block, 64);
  expect_code(
      "with shared memory by size",
      cuOccupancyMaxPotentialBlockSize(&grid, &block, common_kernel("store"), by_size, 0, 0),
      CUDA_SUCCESS);
  expect_true("a block fits", block > 0 && block * 64 <= 49152);
  expect_code("no result",
              cuOccupancyMaxPotentialBlockSize(nullptr, &block, bounded, nullptr, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
}

namespace {

size_t half_of_the_memory(int threads) { return static_cast<size_t>(threads) * 96; }

}  // namespace

CONFORM(cuOccupancyMaxPotentialBlockSize, fills_the_device) {
  CUfunction nothing = function_in(module_of_text(launches_text), "nothing");
  int grid = 0, block = 0, multiprocessors = 0, blocks = 0;
  REQUIRE(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  expect_code("asks", cuOccupancyMaxPotentialBlockSize(&grid, &block, nothing, nullptr, 0, 0),
              CUDA_SUCCESS);
  expect("largest block", block, 1024);
  REQUIRE(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, block, 0));
  expect_true("every multiprocessor", grid == blocks * multiprocessors);
  expect_code("at most 100 threads",
              cuOccupancyMaxPotentialBlockSize(&grid, &block, nothing, nullptr, 0, 100),
              CUDA_SUCCESS);
  expect_true("within the limit", block > 0 && block <= 100);
  expect_code("with shared memory",
              cuOccupancyMaxPotentialBlockSize(&grid, &block, nothing, nullptr, 16384, 0),
              CUDA_SUCCESS);
  expect_true("a block", block > 0 && block <= 1024);
  expect_code("memory by threads",
              cuOccupancyMaxPotentialBlockSize(&grid, &block, nothing, half_of_the_memory, 0, 0),
              CUDA_SUCCESS);
  expect_true("within 48 KiB", block > 0 && half_of_the_memory(block) <= 49152);
}

CONFORM(cuOccupancyMaxPotentialBlockSize, wrong_arguments) {
  CUmodule module = module_of_text(launches_text);
  CUfunction nothing = function_in(module, "nothing");
  int grid = 0, block = 0;
  expect_code("no grid", cuOccupancyMaxPotentialBlockSize(nullptr, &block, nothing, nullptr, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no block", cuOccupancyMaxPotentialBlockSize(&grid, nullptr, nothing, nullptr, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("negative limit",
              cuOccupancyMaxPotentialBlockSize(&grid, &block, nothing, nullptr, 0, -1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function",
              cuOccupancyMaxPotentialBlockSize(&grid, &block, nullptr, nullptr, 0, 0),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuOccupancyMaxPotentialBlockSize(&grid, &block, nothing, nullptr, 0, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuOccupancyMaxPotentialBlockSize, needs_a_context, initialised) {
  int g, b;
  expect_code("no context", cuOccupancyMaxPotentialBlockSize(&g, &b, nullptr, nullptr, 0, 0),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuOccupancyMaxPotentialBlockSize, needs_cuInit, nothing) {
  int g, b;
  expect_code("not initialised", cuOccupancyMaxPotentialBlockSize(&g, &b, nullptr, nullptr, 0, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
