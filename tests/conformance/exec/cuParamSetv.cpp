#include "conformance/conform.h"
#include "conformance/old_launch.h"

namespace limen::conform {

CONFORM(cuParamSetv, reaches_the_kernel) {
  CUfunction function = common_kernel("store");
  Buffer word(4);
  struct {
    CUdeviceptr address;
    uint32_t value;
  } all{word, 19};
  REQUIRE(cuFuncSetBlockShape(function, 1, 1, 1));
  expect_code("set", cuParamSetv(function, 0, &all, 12), CUDA_SUCCESS);
  REQUIRE(cuParamSetSize(function, 12));
  REQUIRE(cuLaunch(function));
  expect("value", read<uint32_t>(word), 19u);
  expect_code("no data", cuParamSetv(function, 0, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuParamSetv(nullptr, 0, &all, 4), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuParamSetv, is_what_the_kernel_reads) {
  CUfunction store = common_kernel("store");
  Buffer word(4);
  struct {
    CUdeviceptr address;
    uint32_t value;
  } all = {word, 77};
  expect_code("sets", cuParamSetv(store, 0, &all, 12), CUDA_SUCCESS);
  all.value = 1;
  run_once(store, 12);
  expect("stored", read<uint32_t>(word), 77u);
  expect_code("negative place", cuParamSetv(store, -4, &all, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("far away", cuParamSetv(store, 1 << 20, &all, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes from nowhere", cuParamSetv(store, 0, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuParamSetv(nullptr, 0, &all, 4), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuParamSetv, needs_a_context, initialised) {
  int all = 0;
  expect_code("no context", cuParamSetv(nullptr, 0, &all, 4), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuParamSetv, needs_cuInit, nothing) {
  int all = 0;
  expect_code("not initialised", cuParamSetv(nullptr, 0, &all, 4), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
