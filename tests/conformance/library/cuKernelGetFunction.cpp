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

}  // namespace limen::conform
