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

CONFORM(cuCtxGetCacheConfig, is_what_was_set) {
  CUfunc_cache config = CU_FUNC_CACHE_PREFER_EQUAL;
  expect_code("asks", cuCtxGetCacheConfig(&config), CUDA_SUCCESS);
  expect("none at first", config, CU_FUNC_CACHE_PREFER_NONE);
  REQUIRE(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_SHARED));
  expect_code("asks again", cuCtxGetCacheConfig(&config), CUDA_SUCCESS);
  expect("shared", config, CU_FUNC_CACHE_PREFER_SHARED);
  expect_code("no result", cuCtxGetCacheConfig(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxGetCacheConfig, needs_a_context, initialised) {
  CUfunc_cache config;
  expect_code("no context", cuCtxGetCacheConfig(&config), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxGetCacheConfig, needs_cuInit, nothing) {
  CUfunc_cache config;
  expect_code("not initialised", cuCtxGetCacheConfig(&config), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
