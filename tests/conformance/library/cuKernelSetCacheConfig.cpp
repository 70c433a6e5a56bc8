#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuKernelSetCacheConfig, every_preference) {
  CUlibrary library = load_library(program);
  CUkernel kernel = kernel_of(library, "second");
  expect_code("none", cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_NONE, 0), CUDA_SUCCESS);
  expect_code("shared", cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_SHARED, 0),
              CUDA_SUCCESS);
  expect_code("L1", cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0), CUDA_SUCCESS);
  expect_code("equal", cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_EQUAL, 0), CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(launch(reinterpret_cast<CUfunction>(kernel), 1, 1, nullptr, word.at()));
  expect("it still runs", read<uint32_t>(word), 12u);
  expect_code("unknown", cuKernelSetCacheConfig(kernel, CUfunc_cache(4), 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_NONE, 0),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("no device", cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_NONE, 99),
              CUDA_ERROR_INVALID_DEVICE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_NONE, 0),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
}

CONFORM_WITH(cuKernelSetCacheConfig, needs_cuInit, nothing) {
  expect_code("not initialised", cuKernelSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_NONE, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
