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
  expect("none", blocks, 8);
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

CONFORM(cuOccupancyMaxActiveBlocksPerMultiprocessor, limits_of_a_multiprocessor) {
  CUfunction nothing = function_in(module_of_text(launches_text), "nothing");
  int blocks = 0, most = 0, threads = 0;
  REQUIRE(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 0));
  REQUIRE(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 0));
  expect_code("1024 threads",
              cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1024, 0), CUDA_SUCCESS);
  expect_true("by threads", blocks == threads / 1024);
  expect_code("256 threads", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 256, 0),
              CUDA_SUCCESS);
  expect_true("more of them", blocks == threads / 256);
  expect_code("one thread", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1, 0),
              CUDA_SUCCESS);
  expect_true("by blocks", blocks == most);
  expect_code("33 threads", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 33, 0),
              CUDA_SUCCESS);
  expect_true("by whole warps", blocks == (threads / 64 < most ? threads / 64 : most));
  expect_code("48 KiB", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 32, 49152),
              CUDA_SUCCESS);
  int shared = 0, reserved = 0;
  REQUIRE(
      cuDeviceGetAttribute(&shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 0));
  REQUIRE(cuDeviceGetAttribute(&reserved, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 0));
  expect_true("by shared memory", blocks == shared / (49152 + reserved));
  expect_code("more than a launch may have",
              cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 32, 49153),
              CUDA_SUCCESS);
  expect("none", blocks, 0);
  expect_code("more threads than a block has",
              cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1025, 0),
              CUDA_SUCCESS);
  expect("none of those", blocks, 0);
}

CONFORM(cuOccupancyMaxActiveBlocksPerMultiprocessor, static_memory_counts) {
  CUmodule module = module_of_text(sizes_text);
  CUfunction sizes = function_in(module, "sizes");
  int blocks = 0;
  expect_code(".maxntid threads",
              cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sizes, 128, 0), CUDA_SUCCESS);
  expect_true("some", blocks > 0);
  expect_code("more than .maxntid",
              cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sizes, 256, 0),
              CUDA_SUCCESS);
  expect("none", blocks, 8);
  auto kernel = reinterpret_cast<CUfunction>(kernel_in(library_of_text(sizes_text), "sizes"));
  expect_code("a library's kernel",
              cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0), CUDA_SUCCESS);
}

CONFORM(cuOccupancyMaxActiveBlocksPerMultiprocessor, wrong_arguments) {
  CUmodule module = module_of_text(launches_text);
  CUfunction nothing = function_in(module, "nothing");
  int blocks = 0;
  expect_code("no result", cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, nothing, 32, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, -32, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nullptr, 32, 0),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 32, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuOccupancyMaxActiveBlocksPerMultiprocessor, needs_a_context_too, initialised) {
  int b;
  expect_code("no context", cuOccupancyMaxActiveBlocksPerMultiprocessor(&b, nullptr, 32, 0),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuOccupancyMaxActiveBlocksPerMultiprocessor, needs_cuInit, nothing) {
  int b;
  expect_code("not initialised", cuOccupancyMaxActiveBlocksPerMultiprocessor(&b, nullptr, 32, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
