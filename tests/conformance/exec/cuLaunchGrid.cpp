#include "conformance/conform.h"
#include "conformance/old_launch.h"

namespace limen::conform {

CONFORM(cuLaunchGrid, as_before_cuda_4) {
  CUfunction add = common_kernel("add");
  Buffer word(4);
  write<uint32_t>(word, 0);
  CUdeviceptr address = word;
  REQUIRE(cuFuncSetBlockShape(add, 32, 1, 1));
  REQUIRE(cuParamSetv(add, 0, &address, 8));
  REQUIRE(cuParamSeti(add, 8, 2));
  REQUIRE(cuParamSetSize(add, 12));
  expect_code("launch", cuLaunchGrid(add, 3, 2), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("all threads ran", read<uint32_t>(word), 384u);
  expect_code("no function", cuLaunchGrid(nullptr, 1, 1), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuLaunchGrid, a_grid_of_two_dimensions) {
  CUfunction shape = function_in(module_of_text(launches_text), "shape");
  Buffer words(24);
  set_address(shape, words);
  REQUIRE(cuFuncSetBlockShape(shape, 2, 1, 1));
  expect_code("launches", cuLaunchGrid(shape, 3, 4), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("threads", read<uint32_t>(words), 2u);
  expect("width", read<uint32_t>(words.at(12)), 3u);
  expect("height", read<uint32_t>(words.at(16)), 4u);
  expect("depth", read<uint32_t>(words.at(20)), 1u);
  expect_code("no width", cuLaunchGrid(shape, 0, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no height", cuLaunchGrid(shape, 1, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuLaunchGrid(shape, -1, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("too high", cuLaunchGrid(shape, 1, 65536), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuLaunchGrid(nullptr, 1, 1), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLaunchGrid, needs_a_context, initialised) {
  expect_code("no context", cuLaunchGrid(nullptr, 1, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuLaunchGrid, needs_cuInit, nothing) {
  expect_code("not initialised", cuLaunchGrid(nullptr, 1, 1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
