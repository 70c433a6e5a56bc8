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

}  // namespace limen::conform
