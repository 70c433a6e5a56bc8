#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {
namespace {

constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry first(.param .u64 a, .param .u32 b) .maxntid 256, 1, 1 {
  .reg .b64 %a; .reg .b32 %b;
  .shared .align 4 .b8 room[512];
  ld.param.u64 %a, [a]; ld.param.u32 %b, [b];
  st.global.u32 [%a], %b;
  mov.u32 %b, room;
  ret;
}
.visible .entry second() { ret; }
)";

CUlibrary load() {
  CUlibrary library = nullptr;
  REQUIRE(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  return library;
}

CUkernel kernel_of(CUlibrary library, const char* name) {
  CUkernel kernel = nullptr;
  REQUIRE(cuLibraryGetKernel(&kernel, library, name));
  return kernel;
}

}  // namespace

CONFORM_WITH(cuKernelSetCacheConfig, is_a_preference, initialised) {
  CUkernel kernel = kernel_of(load(), "first");
  expect_code("set", cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_SHARED, 0), CUDA_SUCCESS);
  expect_code("unknown", cuKernelSetCacheConfig(kernel, static_cast<CUfunc_cache>(9), 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_SHARED, 0),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("no device", cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_SHARED, 99),
              CUDA_ERROR_INVALID_DEVICE);
}

CONFORM(cuKernelSetCacheConfig, every_preference) {
  CUlibrary library = library_of_text(program);
  CUkernel kernel = kernel_in(library, "second");
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
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuKernelSetCacheConfig, needs_cuInit, nothing) {
  expect_code("not initialised", cuKernelSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_NONE, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
