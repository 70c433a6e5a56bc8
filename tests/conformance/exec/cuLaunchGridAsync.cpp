#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuLaunchGridAsync, as_before_cuda_4) {
  CUfunction add = common_kernel("add");
  Buffer word(4);
  write<uint32_t>(word, 0);
  CUdeviceptr address = word;
  REQUIRE(cuFuncSetBlockShape(add, 32, 1, 1));
  REQUIRE(cuParamSetv(add, 0, &address, 8));
  REQUIRE(cuParamSeti(add, 8, 2));
  REQUIRE(cuParamSetSize(add, 12));
  expect_code("launch", cuLaunchGridAsync(add, 5, 1, nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("all threads ran", read<uint32_t>(word), 320u);
  expect_code("no function", cuLaunchGridAsync(nullptr, 1, 1, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
