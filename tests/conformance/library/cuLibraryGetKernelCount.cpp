#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuLibraryGetKernelCount, counts_kernels) {
  CUlibrary library = load_library(program);
  unsigned count = 99;
  expect_code("two", cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
  expect("two kernels", count, 2u);
  expect_code(
      "none",
      cuLibraryGetKernelCount(
          &count, load_library(
                      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 x;\n")),
      CUDA_SUCCESS);
  expect("no kernels", count, 0u);
  expect_code("no result", cuLibraryGetKernelCount(nullptr, library), CUDA_ERROR_INVALID_VALUE);
  expect_code("no library", cuLibraryGetKernelCount(&count, nullptr),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuLibraryGetKernelCount(&count, library), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryGetKernelCount, needs_cuInit, nothing) {
  unsigned n;
  expect_code("not initialised", cuLibraryGetKernelCount(&n, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
