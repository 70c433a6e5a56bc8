#include "conformance/conform.h"

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
              CUDA_SUCCESS);  // to measure on H200
  expect_code("then no launch", cuLaunch(function),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  expect_code("no function", cuFuncSetSharedSize(nullptr, 1), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
