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

CONFORM(cuFuncGetModule, its_own) {
  CUmodule module = load(), of = nullptr;
  CUfunction function = nullptr;
  REQUIRE(cuModuleGetFunction(&function, module, "first"));
  expect_code("get", cuFuncGetModule(&of, function), CUDA_SUCCESS);
  expect_true("the module", of == module);
  expect_code("no result", cuFuncGetModule(nullptr, function_of("first")),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
