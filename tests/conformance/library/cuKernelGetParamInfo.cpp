#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM_WITH(cuKernelGetParamInfo, places_of_parameters, initialised) {
  CUlibrary library = load_library(launches_text);
  CUkernel mixed = kernel_of(library, "mixed");
  size_t offset = 99, size = 99;
  expect_code("byte", cuKernelGetParamInfo(mixed, 0, &offset, &size), CUDA_SUCCESS);
  expect("byte's place", offset, 0u);
  expect("byte's size", size, 1u);
  expect_code("address", cuKernelGetParamInfo(mixed, 1, &offset, &size), CUDA_SUCCESS);
  expect("address's place", offset, 8u);
  expect_code("structure", cuKernelGetParamInfo(mixed, 2, &offset, &size), CUDA_SUCCESS);
  expect("structure's place", offset, 16u);
  expect("structure's size", size, 12u);
  expect_code("without a size", cuKernelGetParamInfo(mixed, 3, &offset, nullptr), CUDA_SUCCESS);
  expect("short's place", offset, 28u);
  expect_code("behind the last", cuKernelGetParamInfo(mixed, 4, &offset, &size),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no place", cuKernelGetParamInfo(mixed, 0, nullptr, &size), CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelGetParamInfo(nullptr, 0, &offset, &size),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuKernelGetParamInfo(mixed, 0, &offset, &size),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
}

CONFORM_WITH(cuKernelGetParamInfo, needs_cuInit, nothing) {
  size_t a, b;
  expect_code("not initialised", cuKernelGetParamInfo(nullptr, 0, &a, &b),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
