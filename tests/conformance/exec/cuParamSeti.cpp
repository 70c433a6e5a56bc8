#include "conformance/conform.h"

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

}  // namespace limen::conform
