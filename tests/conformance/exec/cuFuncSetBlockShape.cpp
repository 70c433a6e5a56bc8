#include "conformance/conform.h"
#include "conformance/old_launch.h"

namespace limen::conform {

CONFORM(cuFuncSetBlockShape, is_the_shape_of_the_launch) {
  CUfunction shape = function_of(load_module(launches_text), "shape");
  Buffer words(24);
  set_address(shape, words);
  expect_code("sets", cuFuncSetBlockShape(shape, 4, 5, 6), CUDA_SUCCESS);
  REQUIRE(cuLaunch(shape));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("x", read<uint32_t>(words), 4u);
  expect("y", read<uint32_t>(words.at(4)), 5u);
  expect("z", read<uint32_t>(words.at(8)), 6u);
  expect_code("no threads in x", cuFuncSetBlockShape(shape, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads in y", cuFuncSetBlockShape(shape, 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads in z", cuFuncSetBlockShape(shape, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuFuncSetBlockShape(shape, -1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("1025 threads", cuFuncSetBlockShape(shape, 1025, 1, 1),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  expect_code("no function", cuFuncSetBlockShape(nullptr, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncSetBlockShape, needs_a_context, initialised) {
  expect_code("no context", cuFuncSetBlockShape(nullptr, 1, 1, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuFuncSetBlockShape, needs_cuInit, nothing) {
  expect_code("not initialised", cuFuncSetBlockShape(nullptr, 1, 1, 1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
