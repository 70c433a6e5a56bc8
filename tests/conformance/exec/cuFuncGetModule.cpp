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

CONFORM(cuFuncGetModule, its_own) {
  CUmodule module = load(), of = nullptr;
  CUfunction function = nullptr;
  REQUIRE(cuModuleGetFunction(&function, module, "first"));
  expect_code("get", cuFuncGetModule(&of, function), CUDA_SUCCESS);
  expect_true("the module", of == module);
  expect_code("no result", cuFuncGetModule(nullptr, function_of("first")),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuFuncGetModule, is_where_it_comes_from) {
  CUmodule module = module_of_text(program), found = nullptr;
  CUfunction function = function_in(module, "first");
  expect_code("asks", cuFuncGetModule(&found, function), CUDA_SUCCESS);
  expect_true("the module", found == module);
  CUlibrary library = library_of_text(program);
  CUmodule of_library = nullptr;
  REQUIRE(cuLibraryGetModule(&of_library, library));
  CUfunction of_kernel = nullptr;
  REQUIRE(cuKernelGetFunction(&of_kernel, kernel_in(library, "first")));
  expect_code("of a library's function", cuFuncGetModule(&found, of_kernel), CUDA_SUCCESS);
  expect_true("the library's module", found == of_library);
  expect_code("no result", cuFuncGetModule(nullptr, function), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncGetModule(&found, nullptr), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuFuncGetModule(&found, function), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuFuncGetModule, foreign_memory) {
  CUmodule module = nullptr;
  expect_code("refused", cuFuncGetModule(&module, foreign_handle<CUfunction>()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncGetModule, needs_cuInit, nothing) {
  CUmodule m;
  expect_code("not initialised", cuFuncGetModule(&m, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
