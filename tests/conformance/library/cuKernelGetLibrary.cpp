#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuKernelGetLibrary, is_where_it_comes_from) {
  CUlibrary one = load_library(program), two = load_library(program), found = nullptr;
  CUkernel kernel = kernel_of(one, "first");
  expect_code("one", cuKernelGetLibrary(&found, kernel), CUDA_SUCCESS);
  expect_true("its library", found == one);
  expect_code("two", cuKernelGetLibrary(&found, kernel_of(two, "first")), CUDA_SUCCESS);
  expect_true("the other library", found == two);
  expect_code("no result", cuKernelGetLibrary(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelGetLibrary(&found, nullptr),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  REQUIRE(cuLibraryUnload(one));
  expect_code("unloaded", cuKernelGetLibrary(&found, kernel),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
}

CONFORM(cuKernelGetLibrary, a_function_of_a_module) {
  CUlibrary found = nullptr;
  auto function = reinterpret_cast<CUkernel>(function_of(load_module(program), "first"));
  expect_code("has none", cuKernelGetLibrary(&found, function),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
}

CONFORM_WITH(cuKernelGetLibrary, needs_cuInit, nothing) {
  CUlibrary l;
  expect_code("not initialised", cuKernelGetLibrary(&l, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
