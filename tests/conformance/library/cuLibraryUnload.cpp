#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuLibraryUnload, takes_all_of_it_along) {
  CUlibrary library = load_library(program);
  CUkernel kernel = kernel_of(library, "first");
  CUmodule module = nullptr;
  REQUIRE(cuLibraryGetModule(&module, library));
  Buffer word(4);
  REQUIRE(launch(reinterpret_cast<CUfunction>(kernel), 1, 1, nullptr, word.at(), 1u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect_code("unloads", cuLibraryUnload(library), CUDA_SUCCESS);
  unsigned count = 0;
  expect_code("its handle", cuLibraryGetKernelCount(&count, library), CUDA_ERROR_INVALID_HANDLE);
  expect_code("its kernel",
              launch(reinterpret_cast<CUfunction>(kernel), 1, 1, nullptr, word.at(), 1u),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  expect_code("its module", cuModuleGetFunctionCount(&count, module),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  expect_code("twice", cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
  expect_code("none", cuLibraryUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryUnload, needs_no_context, initialised) {
  CUlibrary library = load_library(program);
  expect_code("unloads", cuLibraryUnload(library), CUDA_SUCCESS);
}

CONFORM(cuLibraryUnload, foreign_memory) {
  expect_code("refused", cuLibraryUnload(foreign_handle<CUlibrary>()), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryUnload, needs_cuInit, nothing) {
  expect_code("not initialised", cuLibraryUnload(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
