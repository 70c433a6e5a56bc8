#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuModuleGetLoadingMode, lazy, initialised) {
  CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
  expect_code("get", cuModuleGetLoadingMode(&mode), CUDA_SUCCESS);
  expect("lazy", mode, CU_MODULE_LAZY_LOADING);
  expect_code("no result", cuModuleGetLoadingMode(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
