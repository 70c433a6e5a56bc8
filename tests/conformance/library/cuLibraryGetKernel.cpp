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

CONFORM(cuLibraryGetKernel, kernels_by_name) {
  CUlibrary library = library_of_text(program);
  CUkernel first = nullptr, again = nullptr, second = nullptr;
  expect_code("first", cuLibraryGetKernel(&first, library, "first"), CUDA_SUCCESS);
  expect_code("first again", cuLibraryGetKernel(&again, library, "first"), CUDA_SUCCESS);
  expect_true("the same handle", first == again && first);
  expect_code("second", cuLibraryGetKernel(&second, library, "second"), CUDA_SUCCESS);
  expect_true("another", second != first);
  Buffer word(4);
  REQUIRE(launch(reinterpret_cast<CUfunction>(second), 1, 1, nullptr, word.at()));
  expect("it runs", read<uint32_t>(word), 12u);
  expect_code("no such name", cuLibraryGetKernel(&first, library, "third"), CUDA_ERROR_NOT_FOUND);
  expect_code("the name of a variable", cuLibraryGetKernel(&first, library, "counter"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuLibraryGetKernel(&first, library, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuLibraryGetKernel(nullptr, library, "first"), CUDA_ERROR_INVALID_VALUE);
  expect_code("no library", cuLibraryGetKernel(&first, nullptr, "first"),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuLibraryGetKernel(&first, library, "first"), CUDA_ERROR_NOT_FOUND);
}

CONFORM(cuLibraryGetKernel, foreign_memory) {
  CUkernel kernel = nullptr;
  expect_code("refused", cuLibraryGetKernel(&kernel, foreign_handle<CUlibrary>(), "first"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryGetKernel, needs_cuInit, nothing) {
  CUkernel k;
  expect_code("not initialised", cuLibraryGetKernel(&k, nullptr, "first"),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
