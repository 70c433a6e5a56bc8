#include "conformance/conform.h"

#include <cstdlib>

namespace limen::conform {

CONFORM_WITH(cuModuleGetLoadingMode, lazy, initialised) {
  CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
  expect_code("get", cuModuleGetLoadingMode(&mode), CUDA_SUCCESS);
  expect("lazy", mode, CU_MODULE_LAZY_LOADING);
  expect_code("no result", cuModuleGetLoadingMode(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuModuleGetLoadingMode, lazy_unless_told, initialised) {
  CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
  expect_code("asks", cuModuleGetLoadingMode(&mode), CUDA_SUCCESS);
  expect("lazy", mode, CU_MODULE_LAZY_LOADING);
}

CONFORM_WITH(cuModuleGetLoadingMode, eager_when_told, nothing) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  REQUIRE(cuInit(0));
  CUmoduleLoadingMode mode = CU_MODULE_LAZY_LOADING;
  expect_code("asks", cuModuleGetLoadingMode(&mode), CUDA_SUCCESS);
  expect("eager", mode, CU_MODULE_EAGER_LOADING);
}

CONFORM_WITH(cuModuleGetLoadingMode, needs_cuInit, nothing) {
  CUmoduleLoadingMode mode;
  expect_code("not initialised", cuModuleGetLoadingMode(&mode), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
