#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuLibraryGetKernel, kernels_by_name) {
  CUlibrary library = load_library(program);
  CUkernel first = nullptr, again = nullptr, second = nullptr;
  expect_code("first", cuLibraryGetKernel(&first, library, "first"), CUDA_SUCCESS);
  expect_code("first again", cuLibraryGetKernel(&again, library, "first"), CUDA_SUCCESS);
  expect_true("the same handle", first == again && first);
  expect_code("second", cuLibraryGetKernel(&second, library, "second"), CUDA_SUCCESS);
  expect_true("another", second != first);
  Buffer word(4);
  REQUIRE(launch(reinterpret_cast<CUfunction>(second), 1, 1, nullptr, word.at()));
  expect("it runs", read<uint32_t>(word), 12u);
  expect_code("no such name", cuLibraryGetKernel(&first, library, "third"), CUDA_ERROR_NOT_FOUND);
  expect_code("the name of a variable", cuLibraryGetKernel(&first, library, "counter"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuLibraryGetKernel(&first, library, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuLibraryGetKernel(nullptr, library, "first"), CUDA_ERROR_INVALID_VALUE);
  expect_code("no library", cuLibraryGetKernel(&first, nullptr, "first"),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuLibraryGetKernel(&first, library, "first"), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuLibraryGetKernel, foreign_memory) {
  CUkernel kernel = nullptr;
  expect_code("refused", cuLibraryGetKernel(&kernel, foreign_handle<CUlibrary>(), "first"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryGetKernel, needs_cuInit, nothing) {
  CUkernel k;
  expect_code("not initialised", cuLibraryGetKernel(&k, nullptr, "first"),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
