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

CONFORM(cuKernelGetName, as_in_the_text) {
  const char* name = nullptr;
  CUkernel kernel = kernel_of(load(), "second");
  expect_code("get", cuKernelGetName(&name, kernel), CUDA_SUCCESS);
  expect("name", name ? name : "", "second");
  expect_code("no result", cuKernelGetName(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuKernelGetName, is_the_name_of_the_text) {
  CUlibrary library = library_of_text(program);
  CUkernel kernel = kernel_in(library, "first");
  const char* name = nullptr;
  expect_code("first", cuKernelGetName(&name, kernel), CUDA_SUCCESS);
  expect("its name", std::string_view(name), "first");
  expect_code("second", cuKernelGetName(&name, kernel_in(library, "second")), CUDA_SUCCESS);
  expect("another name", std::string_view(name), "second");
  expect_code("no result", cuKernelGetName(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuKernelGetName(&name, kernel), CUDA_SUCCESS);
}

CONFORM_WITH(cuKernelGetName, needs_cuInit, nothing) {
  const char* n;
  expect_code("not initialised", cuKernelGetName(&n, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
