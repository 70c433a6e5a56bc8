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

CONFORM(cuKernelGetLibrary, its_own) {
  CUlibrary library = load(), of = nullptr;
  CUkernel kernel = kernel_of(library, "first");
  expect_code("get", cuKernelGetLibrary(&of, kernel), CUDA_SUCCESS);
  expect_true("the library", of == library);
  expect_code("no result", cuKernelGetLibrary(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuKernelGetLibrary, is_where_it_comes_from) {
  CUlibrary one = library_of_text(program), two = library_of_text(program), found = nullptr;
  CUkernel kernel = kernel_in(one, "first");
  expect_code("one", cuKernelGetLibrary(&found, kernel), CUDA_SUCCESS);
  expect_true("its library", found == one);
  expect_code("two", cuKernelGetLibrary(&found, kernel_in(two, "first")), CUDA_SUCCESS);
  expect_true("the other library", found == two);
  expect_code("no result", cuKernelGetLibrary(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelGetLibrary(&found, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuLibraryUnload(one));
  expect_code("unloaded", cuKernelGetLibrary(&found, kernel), CUDA_SUCCESS);
}

CONFORM(cuKernelGetLibrary, a_function_of_a_module) {
  CUlibrary found = nullptr;
  auto function = reinterpret_cast<CUkernel>(function_in(module_of_text(program), "first"));
  expect_code("has none", cuKernelGetLibrary(&found, function),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuKernelGetLibrary, needs_cuInit, nothing) {
  CUlibrary l;
  expect_code("not initialised", cuKernelGetLibrary(&l, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
