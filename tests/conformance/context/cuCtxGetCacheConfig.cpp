#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxGetCacheConfig, follows_what_was_set) {
  CUfunc_cache config = static_cast<CUfunc_cache>(9);
  expect_code("get", cuCtxGetCacheConfig(&config), CUDA_SUCCESS);
  expect("no preference", config, CU_FUNC_CACHE_PREFER_NONE);
  REQUIRE(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  expect_code("again", cuCtxGetCacheConfig(&config), CUDA_SUCCESS);
  expect("as set", config, CU_FUNC_CACHE_PREFER_L1);
  expect_code("no result", cuCtxGetCacheConfig(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
