#include "conformance/conform.h"

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

}  // namespace limen::conform
