#include "conformance/conform.h"
#include "conformance/old_launch.h"

namespace limen::conform {

CONFORM(cuLaunch, as_before_cuda_4) {
  CUfunction add = common_kernel("add");
  Buffer word(4);
  write<uint32_t>(word, 0);
  CUdeviceptr address = word;
  REQUIRE(cuFuncSetBlockShape(add, 32, 1, 1));
  REQUIRE(cuParamSetv(add, 0, &address, 8));
  REQUIRE(cuParamSeti(add, 8, 2));
  REQUIRE(cuParamSetSize(add, 12));
  expect_code("launch", cuLaunch(add), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("all threads ran", read<uint32_t>(word), 64u);
  expect_code("no function", cuLaunch(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuLaunch, one_block) {
  CUfunction add = common_kernel("add");
  Buffer word(4);
  write<uint32_t>(word, 0);
  set_address(add, word);
  REQUIRE(cuParamSeti(add, 8, 3));
  REQUIRE(cuParamSetSize(add, 12));
  REQUIRE(cuFuncSetBlockShape(add, 8, 2, 1));
  expect_code("launches", cuLaunch(add), CUDA_SUCCESS);
  expect("sixteen threads", read<uint32_t>(word), 48u);
  expect_code("again", cuLaunch(add), CUDA_SUCCESS);
  expect("sixteen more", read<uint32_t>(word), 96u);
  expect_code("no function", cuLaunch(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLaunch, needs_a_context, initialised) {
  expect_code("no context", cuLaunch(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuLaunch, needs_cuInit, nothing) {
  expect_code("not initialised", cuLaunch(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
