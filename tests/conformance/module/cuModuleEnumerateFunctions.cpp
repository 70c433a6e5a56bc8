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

CONFORM(cuModuleEnumerateFunctions, lists_them) {
  CUmodule module = load();
  CUfunction list[2] = {};
  expect_code("both", cuModuleEnumerateFunctions(list, 2, module), CUDA_SUCCESS);
  expect_true("two different ones", list[0] && list[1] && list[0] != list[1]);
  const char* name = nullptr;
  REQUIRE(cuFuncGetName(&name, list[0]));
  const std::string one = name;
  expect_true("named as they are", one == "first" || one == "second");
  expect_code("no room", cuModuleEnumerateFunctions(list, 0, module), CUDA_SUCCESS);
  expect_code("no result", cuModuleEnumerateFunctions(nullptr, 2, module),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuModuleEnumerateFunctions, all_or_fewer) {
  CUmodule module = module_of_text(program);
  CUfunction list[4] = {nullptr, nullptr, nullptr, nullptr};
  expect_code("two", cuModuleEnumerateFunctions(list, 2, module), CUDA_SUCCESS);
  expect_true("both kernels", list[0] && list[1] && list[0] != list[1]);
  const char *one = nullptr, *two = nullptr;
  REQUIRE(cuFuncGetName(&one, list[0]));
  REQUIRE(cuFuncGetName(&two, list[1]));
  expect_true("by name", (!std::strcmp(one, "first") && !std::strcmp(two, "second")) ||
                             (!std::strcmp(two, "first") && !std::strcmp(one, "second")));
  CUfunction known = function_in(module, "first");
  expect_true("the same handles", known == list[0] || known == list[1]);
  CUfunction few[2] = {nullptr, nullptr};
  expect_code("one", cuModuleEnumerateFunctions(few, 1, module), CUDA_SUCCESS);
  expect_true("only one", few[0] && !few[1]);
  expect_code("room for four", cuModuleEnumerateFunctions(list, 4, module), CUDA_SUCCESS);
  expect_true("the rest is left alone", !list[2] && !list[3]);
  expect_code("no list", cuModuleEnumerateFunctions(nullptr, 2, module), CUDA_ERROR_INVALID_VALUE);
  expect_code("none", cuModuleEnumerateFunctions(list, 0, module), CUDA_SUCCESS);
  expect_code("no module", cuModuleEnumerateFunctions(list, 2, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuModuleEnumerateFunctions(list, 2, module), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleEnumerateFunctions, needs_cuInit, nothing) {
  CUfunction f;
  expect_code("not initialised", cuModuleEnumerateFunctions(&f, 1, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
