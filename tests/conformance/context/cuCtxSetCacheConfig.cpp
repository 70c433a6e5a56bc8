#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxSetCacheConfig, is_kept) {
  expect_code("set", cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
  CUfunc_cache config = CU_FUNC_CACHE_PREFER_NONE;
  REQUIRE(cuCtxGetCacheConfig(&config));
  expect("kept", config, CU_FUNC_CACHE_PREFER_L1);
  expect_code("unknown", cuCtxSetCacheConfig(static_cast<CUfunc_cache>(9)),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
