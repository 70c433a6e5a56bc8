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

CONFORM(cuKernelGetParamInfo, offsets_and_sizes) {
  CUkernel kernel = kernel_of(load(), "first");
  size_t offset = 99, bytes = 99;
  expect_code("first", cuKernelGetParamInfo(kernel, 0, &offset, &bytes), CUDA_SUCCESS);
  expect("at 0", offset, 0u);
  expect("8 bytes", bytes, 8u);
  expect_code("second", cuKernelGetParamInfo(kernel, 1, &offset, &bytes), CUDA_SUCCESS);
  expect("at 8", offset, 8u);
  expect("4 bytes", bytes, 4u);
  expect_code("third", cuKernelGetParamInfo(kernel, 2, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuKernelGetParamInfo(kernel, 0, nullptr, &bytes),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuKernelGetParamInfo, places_of_parameters) {
  CUlibrary library = library_of_text(launches_text);
  CUkernel mixed = kernel_in(library, "mixed");
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
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuKernelGetParamInfo(mixed, 0, &offset, &size),
              CUDA_ERROR_INVALID_HANDLE);
}

// A function's parameters are told without one.
CONFORM_WITH(cuKernelGetParamInfo, needs_a_context, initialised) {
  CUkernel mixed = kernel_in(library_of_text(launches_text), "mixed");
  size_t offset = 99, size = 99;
  expect_code("byte", cuKernelGetParamInfo(mixed, 0, &offset, &size), CUDA_ERROR_INVALID_CONTEXT);
  expect("left alone", offset, 99u);
  expect_code("no place", cuKernelGetParamInfo(mixed, 0, nullptr, &size), CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelGetParamInfo(nullptr, 0, &offset, &size),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuKernelGetParamInfo, needs_cuInit, nothing) {
  size_t a, b;
  expect_code("not initialised", cuKernelGetParamInfo(nullptr, 0, &a, &b),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
