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

CONFORM(cuModuleGetFunction, by_name) {
  CUmodule module = load();
  CUfunction first = nullptr, second = nullptr, again = nullptr;
  expect_code("first", cuModuleGetFunction(&first, module, "first"), CUDA_SUCCESS);
  expect_code("second", cuModuleGetFunction(&second, module, "second"), CUDA_SUCCESS);
  expect_true("differ", first != second);
  expect_code("again", cuModuleGetFunction(&again, module, "first"), CUDA_SUCCESS);
  expect_true("the same", first == again);
  expect_code("absent", cuModuleGetFunction(&first, module, "third"), CUDA_ERROR_NOT_FOUND);
  expect_code("a variable", cuModuleGetFunction(&first, module, "counter"), CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuModuleGetFunction(&first, module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no module", cuModuleGetFunction(&first, nullptr, "first"),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
