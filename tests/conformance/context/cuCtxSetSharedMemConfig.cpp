#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxSetSharedMemConfig, changes_nothing) {
  expect_code("eight", cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE),
              CUDA_SUCCESS);
  CUsharedconfig config = CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
  REQUIRE(cuCtxGetSharedMemConfig(&config));
  expect("four as before", config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  expect_code("unknown", cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(9)),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuCtxSetSharedMemConfig, every_size) {
  expect_code("default", cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
              CUDA_SUCCESS);
  expect_code("four", cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE),
              CUDA_SUCCESS);
  expect_code("eight", cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE),
              CUDA_SUCCESS);
  CUsharedconfig config = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
  REQUIRE(cuCtxGetSharedMemConfig(&config));
  expect("a hint without effect", config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  expect_code("unknown", cuCtxSetSharedMemConfig(CUsharedconfig(3)), CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuCtxSetSharedMemConfig(CUsharedconfig(-1)), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxSetSharedMemConfig, needs_a_context, initialised) {
  expect_code("no context", cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxSetSharedMemConfig, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
