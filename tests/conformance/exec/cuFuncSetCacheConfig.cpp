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

CUmodule load() {
  CUmodule module = nullptr;
  REQUIRE(cuModuleLoadData(&module, ptx));
  return module;
}

CUfunction function_of(const char* name) {
  CUfunction function = nullptr;
  REQUIRE(cuModuleGetFunction(&function, load(), name));
  return function;
}

}  // namespace

CONFORM(cuFuncSetCacheConfig, is_a_preference) {
  CUfunction function = function_of("first");
  expect_code("set", cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
  expect_code("unknown", cuFuncSetCacheConfig(function, static_cast<CUfunc_cache>(9)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_L1),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuFuncSetCacheConfig, every_preference) {
  CUmodule module = module_of_text(program);
  CUfunction function = function_in(module, "second");
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
              CUDA_ERROR_INVALID_HANDLE);
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
