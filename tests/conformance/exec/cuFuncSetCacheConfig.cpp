#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuFuncSetCacheConfig, every_preference) {
  CUmodule module = load_module(program);
  CUfunction function = function_of(module, "second");
  expect_code("none", cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_NONE), CUDA_SUCCESS);
  expect_code("shared", cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_SHARED), CUDA_SUCCESS);
  expect_code("L1", cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
  expect_code("equal", cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_EQUAL), CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(launch(function, 1, 1, nullptr, word.at()));
  expect("it still runs", read<uint32_t>(word), 12u);
  expect_code("unknown", cuFuncSetCacheConfig(function, CUfunc_cache(4)), CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuFuncSetCacheConfig(function, CUfunc_cache(-1)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_NONE),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_NONE),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
}

CONFORM_WITH(cuFuncSetCacheConfig, needs_a_context, initialised) {
  expect_code("no context", cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_NONE),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncSetCacheConfig, needs_cuInit, nothing) {
  expect_code("not initialised", cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_NONE),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
