#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuParamSetSize, is_needed_for_the_launch) {
  CUfunction function = common_kernel("store");
  Buffer word(4);
  CUdeviceptr address = word;
  REQUIRE(cuFuncSetBlockShape(function, 1, 1, 1));
  REQUIRE(cuParamSetv(function, 0, &address, 8));
  REQUIRE(cuParamSeti(function, 8, 23));
  expect_code("set", cuParamSetSize(function, 12), CUDA_SUCCESS);
  REQUIRE(cuLaunch(function));
  expect("value", read<uint32_t>(word), 23u);
  expect_code("more than the kernel takes", cuParamSetSize(function, 4096),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  expect_code("no function", cuParamSetSize(nullptr, 12), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
