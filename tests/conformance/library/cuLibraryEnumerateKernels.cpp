#include "conformance/conform.h"

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
  expect_code("no room", cuLibraryEnumerateKernels(list, 0, library), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
