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

}  // namespace

CONFORM(cuModuleEnumerateFunctions, lists_them) {
  CUmodule module = load();
  CUfunction list[2] = {};
  expect_code("both", cuModuleEnumerateFunctions(list, 2, module), CUDA_SUCCESS);
  expect_true("two different ones", list[0] && list[1] && list[0] != list[1]);
  const char* name = nullptr;
  REQUIRE(cuFuncGetName(&name, list[0]));
  const std::string one = name;
  expect_true("named as they are", one == "first" || one == "second");
  expect_code("no room", cuModuleEnumerateFunctions(list, 0, module), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleEnumerateFunctions(nullptr, 2, module),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
