#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxGetSharedMemConfig, four_bytes) {
  CUsharedconfig config = CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
  expect_code("get", cuCtxGetSharedMemConfig(&config), CUDA_SUCCESS);
  expect("bank size", config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  expect_code("no result", cuCtxGetSharedMemConfig(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuCtxGetSharedMemConfig, four_bytes_on_every_recent_device) {
  CUsharedconfig config = CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
  expect_code("asks", cuCtxGetSharedMemConfig(&config), CUDA_SUCCESS);
  expect("four", config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  REQUIRE(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
  expect_code("asks again", cuCtxGetSharedMemConfig(&config), CUDA_SUCCESS);
  expect("still four", config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  expect_code("no result", cuCtxGetSharedMemConfig(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxGetSharedMemConfig, needs_a_context, initialised) {
  CUsharedconfig config;
  expect_code("no context", cuCtxGetSharedMemConfig(&config), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxGetSharedMemConfig, needs_cuInit, nothing) {
  CUsharedconfig config;
  expect_code("not initialised", cuCtxGetSharedMemConfig(&config), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
