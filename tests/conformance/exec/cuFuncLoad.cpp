#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuFuncLoad, loads_a_lazy_function) {
  CUfunction function = common_kernel("store");
  CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_MAX;
  REQUIRE(cuFuncIsLoaded(&state, function));
  expect("lazy", state, CU_FUNCTION_LOADING_STATE_LOADED);
  expect_code("load", cuFuncLoad(function), CUDA_SUCCESS);
  REQUIRE(cuFuncIsLoaded(&state, function));
  expect("loaded", state, CU_FUNCTION_LOADING_STATE_LOADED);
  Buffer word(4);
  REQUIRE(launch(function, 1, 1, nullptr, word.at(), 3u));
  expect("runs", read<uint32_t>(word), 3u);
  expect_code("twice", cuFuncLoad(function), CUDA_SUCCESS);
  expect_code("no function", cuFuncLoad(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuFuncLoad, loads_a_listed_function) {
  CUfunction functions[2] = {};
  REQUIRE(cuModuleEnumerateFunctions(functions, 2, module_of_text(program)));
  CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_MAX;
  REQUIRE(cuFuncIsLoaded(&state, functions[1]));
  expect("lazy", state, CU_FUNCTION_LOADING_STATE_UNLOADED);
  expect_code("load", cuFuncLoad(functions[1]), CUDA_SUCCESS);
  REQUIRE(cuFuncIsLoaded(&state, functions[1]));
  expect("loaded", state, CU_FUNCTION_LOADING_STATE_LOADED);
}

}  // namespace limen::conform
