#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuModuleGetFunctionCount, counts_kernels) {
  unsigned count = 99;
  CUmodule module = load_module(program);
  expect_code("two", cuModuleGetFunctionCount(&count, module), CUDA_SUCCESS);
  expect("two kernels", count, 2u);
  expect_code(
      "none",
      cuModuleGetFunctionCount(
          &count,
          load_module(".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 x;\n")),
      CUDA_SUCCESS);
  expect("no kernels", count, 0u);
  expect_code("no result", cuModuleGetFunctionCount(nullptr, module), CUDA_ERROR_INVALID_VALUE);
  expect_code("no module", cuModuleGetFunctionCount(&count, nullptr),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuModuleGetFunctionCount(&count, module), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetFunctionCount, needs_cuInit, nothing) {
  unsigned count;
  expect_code("not initialised", cuModuleGetFunctionCount(&count, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
