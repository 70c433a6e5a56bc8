#include "conformance/conform.h"
#include "conformance/old_launch.h"

namespace limen::conform {

CONFORM(cuParamSeti, reaches_the_kernel) {
  CUfunction function = common_kernel("store");
  Buffer word(4);
  CUdeviceptr address = word;
  REQUIRE(cuFuncSetBlockShape(function, 1, 1, 1));
  REQUIRE(cuParamSetv(function, 0, &address, 8));
  expect_code("set", cuParamSeti(function, 8, 77), CUDA_SUCCESS);
  REQUIRE(cuParamSetSize(function, 12));
  REQUIRE(cuLaunch(function));
  expect("value", read<uint32_t>(word), 77u);
  expect_code("no function", cuParamSeti(nullptr, 8, 77), CUDA_ERROR_INVALID_HANDLE);
  expect_code("negative place", cuParamSeti(function, -4, 77), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuParamSeti, is_what_the_kernel_reads) {
  CUfunction store = common_kernel("store");
  Buffer word(4);
  set_address(store, word);
  expect_code("sets", cuParamSeti(store, 8, 0xdeadbeef), CUDA_SUCCESS);
  run_once(store, 12);
  expect("stored", read<uint32_t>(word), 0xdeadbeefu);
  expect_code("sets again", cuParamSeti(store, 8, 2), CUDA_SUCCESS);
  run_once(store, 12);
  expect("stored again", read<uint32_t>(word), 2u);
  expect_code("negative place", cuParamSeti(store, -4, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("far away", cuParamSeti(store, 1 << 20, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuParamSeti(nullptr, 0, 1), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuParamSeti, needs_a_context, initialised) {
  expect_code("no context", cuParamSeti(nullptr, 0, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuParamSeti, needs_cuInit, nothing) {
  expect_code("not initialised", cuParamSeti(nullptr, 0, 1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
