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

CONFORM(cuLibraryGetKernel, launches_as_a_function) {
  CUlibrary library = load();
  CUkernel kernel = nullptr;
  expect_code("get", cuLibraryGetKernel(&kernel, library, "first"), CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(launch(reinterpret_cast<CUfunction>(kernel), 1, 1, nullptr, word.at(), 8u));
  expect("result", read<uint32_t>(word), 8u);
  expect_true("the same again", kernel == kernel_of(library, "first"));
  expect_code("absent", cuLibraryGetKernel(&kernel, library, "third"), CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuLibraryGetKernel(&kernel, library, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuLibraryGetKernel(nullptr, library, "first"), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
