#include "conformance/conform.h"
#include "conformance/texts.h"

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
  // What the system reserves of each block is left out of the answer.
  expect("they fit with that", blocks, 14);
  expect_code("no blocks", cuOccupancyAvailableDynamicSMemPerBlock(&many, kernel, 0, 128),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuOccupancyAvailableDynamicSMemPerBlock(nullptr, kernel, 1, 128),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuOccupancyAvailableDynamicSMemPerBlock, what_leaves_room_for_the_blocks) {
  CUmodule module = module_of_text(launches_text);
  CUfunction dynamic = function_in(module, "dynamic");
  size_t bytes = 0;
  int blocks = 0, most = 0;
  REQUIRE(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
  REQUIRE(cuFuncSetAttribute(dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most));
  expect_code("two blocks", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, dynamic, 2, 64),
              CUDA_SUCCESS);
  REQUIRE(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 64, bytes));
  expect("two fit", blocks >= 2, false);
  expect("one fits", blocks, 1);
  int shared = 0;
  REQUIRE(
      cuDeviceGetAttribute(&shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 0));
  expect_true("half of a multiprocessor's", bytes == static_cast<size_t>(shared) / 2);
  expect_true("a good part", bytes >= 16384);
  size_t fewer = 0;
  expect_code("eight blocks", cuOccupancyAvailableDynamicSMemPerBlock(&fewer, dynamic, 8, 64),
              CUDA_SUCCESS);
  expect_true("less for each", fewer < bytes && fewer > 0);
  REQUIRE(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 64, fewer));
  expect("eight fit", blocks >= 8, false);
  expect("seven fit", blocks, 7);
  expect_code("more blocks than fit",
              cuOccupancyAvailableDynamicSMemPerBlock(&bytes, dynamic, 3, 1024),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuOccupancyAvailableDynamicSMemPerBlock(nullptr, dynamic, 2, 64),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no blocks", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, dynamic, 0, 64),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, dynamic, 2, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, nullptr, 2, 64),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, dynamic, 2, 64),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuOccupancyAvailableDynamicSMemPerBlock, needs_a_context, initialised) {
  size_t n;
  expect_code("no context", cuOccupancyAvailableDynamicSMemPerBlock(&n, nullptr, 2, 64),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuOccupancyAvailableDynamicSMemPerBlock, needs_cuInit, nothing) {
  size_t n;
  expect_code("not initialised", cuOccupancyAvailableDynamicSMemPerBlock(&n, nullptr, 2, 64),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
