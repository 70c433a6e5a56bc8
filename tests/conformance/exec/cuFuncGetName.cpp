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

CONFORM(cuFuncGetName, as_in_the_text) {
  const char* name = nullptr;
  CUfunction function = function_of("second");
  expect_code("get", cuFuncGetName(&name, function), CUDA_SUCCESS);
  expect("name", name ? name : "", "second");
  expect_code("no result", cuFuncGetName(nullptr, function), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuFuncGetName, is_the_name_of_the_text) {
  CUmodule module = module_of_text(program);
  const char* name = nullptr;
  expect_code("first", cuFuncGetName(&name, function_in(module, "first")), CUDA_SUCCESS);
  expect("its name", std::string_view(name), "first");
  expect_code("second", cuFuncGetName(&name, function_in(module, "second")), CUDA_SUCCESS);
  expect("another name", std::string_view(name), "second");
  CUfunction function = function_in(module, "first");
  expect_code("no result", cuFuncGetName(nullptr, function), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuFuncGetName(&name, function), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncGetName, needs_cuInit, nothing) {
  const char* name;
  expect_code("not initialised", cuFuncGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
