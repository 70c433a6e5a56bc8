#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuLibraryEnumerateKernels, all_or_fewer) {
  CUlibrary library = load_library(program);
  CUkernel list[4] = {nullptr, nullptr, nullptr, nullptr}, few[2] = {nullptr, nullptr};
  expect_code("two", cuLibraryEnumerateKernels(list, 2, library), CUDA_SUCCESS);
  expect_true("both", list[0] && list[1] && list[0] != list[1]);
  CUkernel known = kernel_of(library, "second");
  expect_true("the same handles", known == list[0] || known == list[1]);
  expect_code("one", cuLibraryEnumerateKernels(few, 1, library), CUDA_SUCCESS);
  expect_true("only one", few[0] && !few[1]);
  expect_code("room for four", cuLibraryEnumerateKernels(list, 4, library), CUDA_SUCCESS);
  expect_true("the rest is left alone", !list[2] && !list[3]);  // to measure on H200
  expect_code("no list", cuLibraryEnumerateKernels(nullptr, 2, library), CUDA_ERROR_INVALID_VALUE);
  expect_code("none", cuLibraryEnumerateKernels(list, 0, library),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  expect_code("no library", cuLibraryEnumerateKernels(list, 2, nullptr),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuLibraryEnumerateKernels(list, 2, library), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryEnumerateKernels, needs_cuInit, nothing) {
  CUkernel k;
  expect_code("not initialised", cuLibraryEnumerateKernels(&k, 1, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
