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

CONFORM(cuCtxSetCacheConfig, every_preference) {
  CUfunc_cache now = CU_FUNC_CACHE_PREFER_NONE;
  expect_code("shared", cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_SHARED), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCacheConfig(&now));
  expect("shared now", now, CU_FUNC_CACHE_PREFER_SHARED);
  expect_code("L1", cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCacheConfig(&now));
  expect("L1 now", now, CU_FUNC_CACHE_PREFER_L1);
  expect_code("equal", cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_EQUAL), CUDA_SUCCESS);
  expect_code("none", cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE), CUDA_SUCCESS);
  expect_code("unknown", cuCtxSetCacheConfig(CUfunc_cache(4)), CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuCtxSetCacheConfig(CUfunc_cache(-1)), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxSetCacheConfig, needs_a_context, initialised) {
  expect_code("no context", cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxSetCacheConfig, needs_cuInit, nothing) {
  expect_code("not initialised", cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
