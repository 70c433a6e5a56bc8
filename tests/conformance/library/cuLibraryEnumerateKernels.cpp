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

CONFORM(cuLibraryEnumerateKernels, lists_them) {
  CUkernel list[2] = {};
  CUlibrary library = load();
  expect_code("both", cuLibraryEnumerateKernels(list, 2, library), CUDA_SUCCESS);
  const CUkernel first = kernel_of(library, "first"), second = kernel_of(library, "second");
  expect_true("the two",
              (list[0] == first && list[1] == second) || (list[1] == first && list[0] == second));
  expect_code("no result", cuLibraryEnumerateKernels(nullptr, 2, library),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no room", cuLibraryEnumerateKernels(list, 0, library), CUDA_SUCCESS);
}

CONFORM(cuLibraryEnumerateKernels, all_or_fewer) {
  CUlibrary library = library_of_text(program);
  CUkernel list[4] = {nullptr, nullptr, nullptr, nullptr}, few[2] = {nullptr, nullptr};
  expect_code("two", cuLibraryEnumerateKernels(list, 2, library), CUDA_SUCCESS);
  expect_true("both", list[0] && list[1] && list[0] != list[1]);
  CUkernel known = kernel_in(library, "second");
  expect_true("the same handles", known == list[0] || known == list[1]);
  expect_code("one", cuLibraryEnumerateKernels(few, 1, library), CUDA_SUCCESS);
  expect_true("only one", few[0] && !few[1]);
  expect_code("room for four", cuLibraryEnumerateKernels(list, 4, library), CUDA_SUCCESS);
  expect_true("the rest is left alone", !list[2] && !list[3]);
  expect_code("no list", cuLibraryEnumerateKernels(nullptr, 2, library), CUDA_ERROR_INVALID_VALUE);
  expect_code("none", cuLibraryEnumerateKernels(list, 0, library), CUDA_SUCCESS);
  expect_code("no library", cuLibraryEnumerateKernels(list, 2, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuLibraryEnumerateKernels(list, 2, library), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryEnumerateKernels, needs_cuInit, nothing) {
  CUkernel k;
  expect_code("not initialised", cuLibraryEnumerateKernels(&k, 1, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
