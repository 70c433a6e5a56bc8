#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuLibraryGetUnifiedFunction, a_kernel_is_none) {
  constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing() { ret; }
)";
  CUlibrary library = nullptr;
  REQUIRE(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  void* function = nullptr;
  expect_code("kernel", cuLibraryGetUnifiedFunction(&function, library, "nothing"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no such name", cuLibraryGetUnifiedFunction(&function, library, "absent"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuLibraryGetUnifiedFunction(nullptr, library, "nothing"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no name", cuLibraryGetUnifiedFunction(&function, library, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no library", cuLibraryGetUnifiedFunction(&function, nullptr, "nothing"),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
