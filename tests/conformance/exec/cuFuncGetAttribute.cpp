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

CONFORM(cuFuncGetAttribute, from_the_text) {
  CUfunction function = function_of("first");
  int value = -1;
  expect_code("threads",
              cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function),
              CUDA_SUCCESS);
  expect("as .maxntid says", value, 256);
  expect_code("shared", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
              CUDA_SUCCESS);
  expect("bytes", value, 512);
  expect_code("dynamic",
              cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function),
              CUDA_SUCCESS);
  expect("48 KiB less these", value, 49152 - 512);
  expect_code("text", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, function),
              CUDA_SUCCESS);
  expect("its target", value, 70);
  expect_code("unknown", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, function),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_PTX_VERSION, function),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
