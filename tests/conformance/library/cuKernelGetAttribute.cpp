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

CONFORM_WITH(cuKernelGetAttribute, from_the_text, initialised) {
  CUkernel kernel = kernel_of(load(), "first");
  int value = -1;
  expect_code("threads",
              cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0),
              CUDA_SUCCESS);
  expect("as .maxntid says", value, 256);
  expect_code("shared",
              cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, 0),
              CUDA_SUCCESS);
  expect("bytes", value, 512);
  expect_code("no device",
              cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, 99),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("unknown",
              cuKernelGetAttribute(&value, static_cast<CUfunction_attribute>(77), kernel, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
