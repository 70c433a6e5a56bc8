#include "conformance/conform.h"

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

}  // namespace limen::conform
