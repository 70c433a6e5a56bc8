#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxGetSharedMemConfig, four_bytes) {
  CUsharedconfig config = CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
  expect_code("get", cuCtxGetSharedMemConfig(&config), CUDA_SUCCESS);
  expect("bank size", config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  expect_code("no result", cuCtxGetSharedMemConfig(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
