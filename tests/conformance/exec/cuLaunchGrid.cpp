#include "conformance/conform.h"

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

}  // namespace limen::conform
