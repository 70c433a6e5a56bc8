#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuFuncGetName, is_the_name_of_the_text) {
  CUmodule module = load_module(program);
  const char* name = nullptr;
  expect_code("first", cuFuncGetName(&name, function_of(module, "first")), CUDA_SUCCESS);
  expect("its name", std::string_view(name), "first");
  expect_code("second", cuFuncGetName(&name, function_of(module, "second")), CUDA_SUCCESS);
  expect("another name", std::string_view(name), "second");
  CUfunction function = function_of(module, "first");
  expect_code("no result", cuFuncGetName(nullptr, function), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncGetName(&name, nullptr),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuFuncGetName(&name, function),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
}

CONFORM_WITH(cuFuncGetName, needs_cuInit, nothing) {
  const char* name;
  expect_code("not initialised", cuFuncGetName(&name, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
