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

CONFORM(cuFuncGetParamInfo, offsets_and_sizes) {
  CUfunction function = function_of("first");
  size_t offset = 99, bytes = 99;
  expect_code("second", cuFuncGetParamInfo(function, 1, &offset, &bytes), CUDA_SUCCESS);
  expect("at 8", offset, 8u);
  expect("4 bytes", bytes, 4u);
  expect_code("without size", cuFuncGetParamInfo(function, 0, &offset, nullptr), CUDA_SUCCESS);
  expect_code("third", cuFuncGetParamInfo(function, 2, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuFuncGetParamInfo, places_of_parameters) {
  CUmodule module = module_of_text(launches_text);
  CUfunction mixed = function_in(module, "mixed");
  size_t offset = 99, size = 99;
  expect_code("byte", cuFuncGetParamInfo(mixed, 0, &offset, &size), CUDA_SUCCESS);
  expect("byte's place", offset, 0u);
  expect("byte's size", size, 1u);
  expect_code("address", cuFuncGetParamInfo(mixed, 1, &offset, &size), CUDA_SUCCESS);
  expect("address's place", offset, 8u);
  expect("address's size", size, 8u);
  expect_code("structure", cuFuncGetParamInfo(mixed, 2, &offset, &size), CUDA_SUCCESS);
  expect("structure's place", offset, 16u);
  expect("structure's size", size, 12u);
  expect_code("short", cuFuncGetParamInfo(mixed, 3, &offset, &size), CUDA_SUCCESS);
  expect("short's place", offset, 28u);
  expect("short's size", size, 2u);
  offset = 99;
  expect_code("without a size", cuFuncGetParamInfo(mixed, 1, &offset, nullptr), CUDA_SUCCESS);
  expect("the place", offset, 8u);
  expect_code("behind the last", cuFuncGetParamInfo(mixed, 4, &offset, &size),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("far behind", cuFuncGetParamInfo(mixed, ~size_t{0}, &offset, &size),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("of a kernel without any",
              cuFuncGetParamInfo(function_in(module, "nothing"), 0, &offset, &size),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no place", cuFuncGetParamInfo(mixed, 0, nullptr, &size), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncGetParamInfo(nullptr, 0, &offset, &size),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuFuncGetParamInfo(mixed, 0, &offset, &size), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncGetParamInfo, needs_cuInit, nothing) {
  size_t a, b;
  expect_code("not initialised", cuFuncGetParamInfo(nullptr, 0, &a, &b), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
