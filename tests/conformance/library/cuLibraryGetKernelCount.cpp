#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {
namespace {

constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry first(.param .u64 a, .param .u32 b) .maxntid 256, 1, 1 {
  .reg .b64 %a; .reg .b32 %b;
  .shared .align 4 .b8 room[512];
  ld.param.u64 %a, [a]; ld.param.u32 %b, [b];
  st.global.u32 [%a], %b;
  mov.u32 %b, room;
  ret;
}
.visible .entry second() { ret; }
)";

CUlibrary load() {
  CUlibrary library = nullptr;
  REQUIRE(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  return library;
}

CUkernel kernel_of(CUlibrary library, const char* name) {
  CUkernel kernel = nullptr;
  REQUIRE(cuLibraryGetKernel(&kernel, library, name));
  return kernel;
}

}  // namespace

CONFORM(cuLibraryGetKernelCount, two) {
  unsigned count = 0;
  CUlibrary library = load();
  expect_code("count", cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
  expect("two", count, 2u);
  expect_code("no result", cuLibraryGetKernelCount(nullptr, library), CUDA_ERROR_INVALID_VALUE);
  expect_true("lives", kernel_of(library, "first") != nullptr);
}

CONFORM(cuLibraryGetKernelCount, counts_kernels) {
  CUlibrary library = library_of_text(program);
  unsigned count = 99;
  expect_code("two", cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
  expect("two kernels", count, 2u);
  expect_code(
      "none",
      cuLibraryGetKernelCount(
          &count, library_of_text(
                      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 x;\n")),
      CUDA_SUCCESS);
  expect("no kernels", count, 0u);
  expect_code("no result", cuLibraryGetKernelCount(nullptr, library), CUDA_ERROR_INVALID_VALUE);
  expect_code("no library", cuLibraryGetKernelCount(&count, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuLibraryGetKernelCount(&count, library), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryGetKernelCount, needs_cuInit, nothing) {
  unsigned n;
  expect_code("not initialised", cuLibraryGetKernelCount(&n, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
