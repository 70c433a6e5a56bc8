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

CONFORM(cuFuncGetParamInfo, offsets_and_sizes) {
  CUfunction function = function_of("first");
  size_t offset = 99, bytes = 99;
  expect_code("second", cuFuncGetParamInfo(function, 1, &offset, &bytes), CUDA_SUCCESS);
  expect("at 8", offset, 8u);
  expect("4 bytes", bytes, 4u);
  expect_code("without size", cuFuncGetParamInfo(function, 0, &offset, nullptr), CUDA_SUCCESS);
  expect_code("third", cuFuncGetParamInfo(function, 2, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
