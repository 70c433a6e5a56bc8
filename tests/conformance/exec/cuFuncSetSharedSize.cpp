#include "conformance/conform.h"
#include "conformance/old_launch.h"

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

CONFORM(cuFuncSetSharedSize, of_old_launches) {
  CUfunction function = function_of("second");
  expect_code("some", cuFuncSetSharedSize(function, 1024), CUDA_SUCCESS);
  REQUIRE(cuFuncSetBlockShape(function, 1, 1, 1));
  expect_code("launch", cuLaunch(function), CUDA_SUCCESS);
  expect_code("more than there is", cuFuncSetSharedSize(function, 1 << 20),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("as before", cuLaunch(function), CUDA_SUCCESS);
  expect_code("no function", cuFuncSetSharedSize(nullptr, 1), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuFuncSetSharedSize, is_the_memory_of_the_launch) {
  CUfunction dynamic = function_in(module_of_text(launches_text), "dynamic");
  Buffer word(4);
  set_address(dynamic, word);
  REQUIRE(cuParamSeti(dynamic, 8, 8188));
  REQUIRE(cuParamSetSize(dynamic, 12));
  REQUIRE(cuFuncSetBlockShape(dynamic, 1, 1, 1));
  expect_code("8 KiB", cuFuncSetSharedSize(dynamic, 8192), CUDA_SUCCESS);
  REQUIRE(cuLaunch(dynamic));
  expect("its last word", read<uint32_t>(word), 8189u);
  expect_code("more than there is", cuFuncSetSharedSize(dynamic, 1 << 20),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("its launch", cuLaunch(dynamic), CUDA_SUCCESS);
  expect_code("no function", cuFuncSetSharedSize(nullptr, 16), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncSetSharedSize, needs_a_context, initialised) {
  expect_code("no context", cuFuncSetSharedSize(nullptr, 16), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuFuncSetSharedSize, needs_cuInit, nothing) {
  expect_code("not initialised", cuFuncSetSharedSize(nullptr, 16), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
