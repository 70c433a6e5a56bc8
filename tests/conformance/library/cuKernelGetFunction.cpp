#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuKernelGetFunction, one_function_a_context) {
  CUlibrary library = load_library(program);
  CUkernel kernel = kernel_of(library, "first");
  CUfunction one = nullptr, again = nullptr, other = nullptr;
  expect_code("asks", cuKernelGetFunction(&one, kernel), CUDA_SUCCESS);
  expect_code("again", cuKernelGetFunction(&again, kernel), CUDA_SUCCESS);
  expect_true("the same", one == again && one);
  Buffer word(4);
  REQUIRE(launch(one, 1, 1, nullptr, word.at(), 3u));
  expect("it runs", read<uint32_t>(word), 10u);
  CUmodule module = nullptr;
  REQUIRE(cuLibraryGetModule(&module, library));
  expect_true("that of the library's module", function_of(module, "first") == one);
  CUcontext made = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("in another context", cuKernelGetFunction(&other, kernel), CUDA_SUCCESS);
  expect_true("another", other != one);
  expect_code("no result", cuKernelGetFunction(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelGetFunction(&one, nullptr),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuKernelGetFunction(&one, kernel),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
}

CONFORM_WITH(cuKernelGetFunction, no_context, initialised) {
  CUkernel kernel = kernel_of(load_library(program), "first");
  CUfunction function = nullptr;
  expect_code("asks", cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuKernelGetFunction, needs_cuInit, nothing) {
  CUfunction f;
  expect_code("not initialised", cuKernelGetFunction(&f, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
