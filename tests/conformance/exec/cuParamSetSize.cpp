#include "conformance/conform.h"
#include "conformance/old_launch.h"

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
  expect_code("more than the kernel takes", cuParamSetSize(function, 4096), CUDA_SUCCESS);
  expect_code("no function", cuParamSetSize(nullptr, 12), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuParamSetSize, bytes_of_all_parameters) {
  CUfunction store = common_kernel("store");
  Buffer word(4);
  set_address(store, word);
  REQUIRE(cuParamSeti(store, 8, 31));
  REQUIRE(cuFuncSetBlockShape(store, 1, 1, 1));
  expect_code("twelve", cuParamSetSize(store, 12), CUDA_SUCCESS);
  REQUIRE(cuLaunch(store));
  expect("stored", read<uint32_t>(word), 31u);
  expect_code("more than parameters can have", cuParamSetSize(store, 1 << 20),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuParamSetSize(nullptr, 8), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuParamSetSize, needs_a_context, initialised) {
  expect_code("no context", cuParamSetSize(nullptr, 8), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuParamSetSize, needs_cuInit, nothing) {
  expect_code("not initialised", cuParamSetSize(nullptr, 8), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
