#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuKernelGetName, is_the_name_of_the_text) {
  CUlibrary library = load_library(program);
  CUkernel kernel = kernel_of(library, "first");
  const char* name = nullptr;
  expect_code("first", cuKernelGetName(&name, kernel), CUDA_SUCCESS);
  expect("its name", std::string_view(name), "first");
  expect_code("second", cuKernelGetName(&name, kernel_of(library, "second")), CUDA_SUCCESS);
  expect("another name", std::string_view(name), "second");
  expect_code("no result", cuKernelGetName(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelGetName(&name, nullptr),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuKernelGetName(&name, kernel),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
}

CONFORM_WITH(cuKernelGetName, needs_cuInit, nothing) {
  const char* n;
  expect_code("not initialised", cuKernelGetName(&n, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
