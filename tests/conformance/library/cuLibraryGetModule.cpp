#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuLibraryGetModule, one_module_a_context) {
  CUlibrary library = load_library(program);
  CUmodule one = nullptr, again = nullptr, other = nullptr;
  expect_code("asks", cuLibraryGetModule(&one, library), CUDA_SUCCESS);
  expect_code("again", cuLibraryGetModule(&again, library), CUDA_SUCCESS);
  expect_true("the same", one == again && one);
  Buffer word(4);
  REQUIRE(launch(function_of(one, "first"), 1, 1, nullptr, word.at(), 4u));
  expect("it runs", read<uint32_t>(word), 11u);
  CUcontext made = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("in another context", cuLibraryGetModule(&other, library), CUDA_SUCCESS);
  expect_true("another module", other != one);
  expect_code("no result", cuLibraryGetModule(nullptr, library), CUDA_ERROR_INVALID_VALUE);
  expect_code("no library", cuLibraryGetModule(&one, nullptr),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuLibraryGetModule(&one, library), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryGetModule, no_context, initialised) {
  CUlibrary library = load_library(program);
  CUmodule module = nullptr;
  expect_code("asks", cuLibraryGetModule(&module, library), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuLibraryGetModule, needs_cuInit, nothing) {
  CUmodule m;
  expect_code("not initialised", cuLibraryGetModule(&m, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
