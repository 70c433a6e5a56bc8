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

}  // namespace

CONFORM(cuModuleGetFunctionCount, counts_kernels) {
  unsigned count = 0;
  expect_code("count", cuModuleGetFunctionCount(&count, load()), CUDA_SUCCESS);
  expect("two", count, 2u);
  expect_code("no result", cuModuleGetFunctionCount(nullptr, load()), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuModuleGetFunctionCount, counts_kernels_too) {
  unsigned count = 99;
  CUmodule module = module_of_text(program);
  expect_code("two", cuModuleGetFunctionCount(&count, module), CUDA_SUCCESS);
  expect("two kernels", count, 2u);
  expect_code(
      "none",
      cuModuleGetFunctionCount(
          &count, module_of_text(
                      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 x;\n")),
      CUDA_SUCCESS);
  expect("no kernels", count, 0u);
  expect_code("no result", cuModuleGetFunctionCount(nullptr, module), CUDA_ERROR_INVALID_VALUE);
  expect_code("no module", cuModuleGetFunctionCount(&count, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuModuleGetFunctionCount(&count, module), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetFunctionCount, needs_cuInit, nothing) {
  unsigned count;
  expect_code("not initialised", cuModuleGetFunctionCount(&count, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
