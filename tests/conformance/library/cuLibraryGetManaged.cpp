#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuLibraryGetManaged, the_host_uses_it) {
  CUlibrary library = load_library(managed_text);
  CUdeviceptr both = 0;
  size_t bytes = 0;
  expect_code("asks", cuLibraryGetManaged(&both, &bytes, library, "both"), CUDA_SUCCESS);
  expect("its size", bytes, 4u);
  auto* value = reinterpret_cast<volatile uint32_t*>(both);
  expect("its value", *value, 9u);
  *value = 20;
  REQUIRE(launch(reinterpret_cast<CUfunction>(kernel_of(library, "twice")), 1, 1, nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("doubled", *value, 40u);
  unsigned managed = 0;
  REQUIRE(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, both));
  expect("managed memory", managed, 1u);
  CUcontext made = nullptr;
  CUdeviceptr again = 0;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("in another context", cuLibraryGetManaged(&again, nullptr, library, "both"),
              CUDA_SUCCESS);
  expect_true("the same address", again == both);
}

CONFORM(cuLibraryGetManaged, wrong_arguments) {
  CUlibrary library = load_library(managed_text);
  CUdeviceptr address = 0;
  size_t bytes = 0;
  expect_code("no such name", cuLibraryGetManaged(&address, &bytes, library, "nobody"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("a plain variable", cuLibraryGetManaged(&address, &bytes, library, "plain"),
              CUDA_ERROR_NOT_FOUND);  // to measure on H200
  expect_code("no name", cuLibraryGetManaged(&address, &bytes, library, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("nothing asked", cuLibraryGetManaged(nullptr, nullptr, library, "both"),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  expect_code("no library", cuLibraryGetManaged(&address, &bytes, nullptr, "both"),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuLibraryGetManaged(&address, &bytes, library, "both"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryGetManaged, needs_no_context, initialised) {
  CUlibrary library = load_library(managed_text);
  CUdeviceptr both = 0;
  expect_code("asks", cuLibraryGetManaged(&both, nullptr, library, "both"),
              CUDA_SUCCESS);  // to measure on H200
}

CONFORM_WITH(cuLibraryGetManaged, needs_cuInit, nothing) {
  CUdeviceptr a;
  size_t n;
  expect_code("not initialised", cuLibraryGetManaged(&a, &n, nullptr, "both"),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
