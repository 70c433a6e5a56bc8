#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuFuncGetModule, is_where_it_comes_from) {
  CUmodule module = load_module(program), found = nullptr;
  CUfunction function = function_of(module, "first");
  expect_code("asks", cuFuncGetModule(&found, function), CUDA_SUCCESS);
  expect_true("the module", found == module);
  CUlibrary library = load_library(program);
  CUmodule of_library = nullptr;
  REQUIRE(cuLibraryGetModule(&of_library, library));
  CUfunction of_kernel = nullptr;
  REQUIRE(cuKernelGetFunction(&of_kernel, kernel_of(library, "first")));
  expect_code("of a library's function", cuFuncGetModule(&found, of_kernel), CUDA_SUCCESS);
  expect_true("the library's module", found == of_library);
  expect_code("no result", cuFuncGetModule(nullptr, function), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncGetModule(&found, nullptr), CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuFuncGetModule(&found, function),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
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
