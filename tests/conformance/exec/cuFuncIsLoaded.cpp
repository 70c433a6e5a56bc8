#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuFuncIsLoaded, a_launch_loads) {
  CUfunction function = common_kernel("store");
  CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_MAX;
  expect_code("before", cuFuncIsLoaded(&state, function), CUDA_SUCCESS);
  expect("lazy", state, CU_FUNCTION_LOADING_STATE_UNLOADED);
  Buffer word(4);
  REQUIRE(launch(function, 1, 1, nullptr, word.at(), 3u));
  expect_code("after", cuFuncIsLoaded(&state, function), CUDA_SUCCESS);
  expect("loaded", state, CU_FUNCTION_LOADING_STATE_LOADED);
  expect_code("no result", cuFuncIsLoaded(nullptr, function), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncIsLoaded(&state, nullptr),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
}

}  // namespace limen::conform
