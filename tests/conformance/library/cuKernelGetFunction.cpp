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

CONFORM(cuKernelGetFunction, of_the_context) {
  CUkernel kernel = kernel_of(load(), "first");
  CUfunction function = nullptr;
  expect_code("get", cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(launch(function, 1, 1, nullptr, word.at(), 6u));
  expect("works", read<uint32_t>(word), 6u);
  expect_code("no result", cuKernelGetFunction(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuKernelGetFunction, needs_a_context, initialised) {
  CUfunction function = nullptr;
  expect_code("none", cuKernelGetFunction(&function, kernel_of(load(), "first")),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuKernelGetFunction, one_function_a_context) {
  CUlibrary library = library_of_text(program);
  CUkernel kernel = kernel_in(library, "first");
  CUfunction one = nullptr, again = nullptr, other = nullptr;
  expect_code("asks", cuKernelGetFunction(&one, kernel), CUDA_SUCCESS);
  expect_code("again", cuKernelGetFunction(&again, kernel), CUDA_SUCCESS);
  expect_true("the same", one == again && one);
  Buffer word(4);
  REQUIRE(launch(one, 1, 1, nullptr, word.at(), 3u));
  expect("it runs", read<uint32_t>(word), 10u);
  CUmodule module = nullptr;
  REQUIRE(cuLibraryGetModule(&module, library));
  expect_true("that of the library's module", function_in(module, "first") == one);
  CUcontext made = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("in another context", cuKernelGetFunction(&other, kernel), CUDA_SUCCESS);
  expect_true("another", other != one);
  expect_code("no result", cuKernelGetFunction(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelGetFunction(&one, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuKernelGetFunction(&one, kernel),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuKernelGetFunction, no_context, initialised) {
  CUkernel kernel = kernel_in(library_of_text(program), "first");
  CUfunction function = nullptr;
  expect_code("asks", cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuKernelGetFunction, needs_cuInit, nothing) {
  CUfunction f;
  expect_code("not initialised", cuKernelGetFunction(&f, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
