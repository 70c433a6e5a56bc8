#include "conformance/conform.h"
#include "conformance/old_launch.h"

namespace limen::conform {

CONFORM(cuParamSetf, reaches_the_kernel) {
  CUfunction function = common_kernel("store");
  Buffer word(4);
  CUdeviceptr address = word;
  REQUIRE(cuFuncSetBlockShape(function, 1, 1, 1));
  REQUIRE(cuParamSetv(function, 0, &address, 8));
  expect_code("set", cuParamSetf(function, 8, 2.5f), CUDA_SUCCESS);
  REQUIRE(cuParamSetSize(function, 12));
  REQUIRE(cuLaunch(function));
  expect("value", read<float>(word), 2.5f);
  expect_code("no function", cuParamSetf(nullptr, 8, 2.5f), CUDA_ERROR_INVALID_HANDLE);
  expect_code("negative place", cuParamSetf(function, -4, 2.5f), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuParamSetf, is_what_the_kernel_reads) {
  CUfunction store = common_kernel("store");
  Buffer word(4);
  set_address(store, word);
  expect_code("sets", cuParamSetf(store, 8, 1.5f), CUDA_SUCCESS);
  run_once(store, 12);
  expect("stored", read<float>(word), 1.5f);
  expect_code("negative place", cuParamSetf(store, -4, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("far away", cuParamSetf(store, 1 << 20, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuParamSetf(nullptr, 0, 1), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuParamSetf, needs_a_context, initialised) {
  expect_code("no context", cuParamSetf(nullptr, 0, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuParamSetf, needs_cuInit, nothing) {
  expect_code("not initialised", cuParamSetf(nullptr, 0, 1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
