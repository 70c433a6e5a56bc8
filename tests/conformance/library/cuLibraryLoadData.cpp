#include "conformance/conform.h"
#include "conformance/fat_binary.h"
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

CONFORM_WITH(cuLibraryLoadData, needs_no_context, initialised) {
  CUlibrary library = nullptr;
  expect_code("load", cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0),
              CUDA_SUCCESS);
  unsigned count = 0;
  REQUIRE(cuLibraryGetKernelCount(&count, library));
  expect("kernels", count, 2u);
  expect_code("no result",
              cuLibraryLoadData(nullptr, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no code",
              cuLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_true("by name", kernel_of(load(), "first") != nullptr);
}

namespace {

CUresult load(CUlibrary* library, const void* code) {
  return cuLibraryLoadData(library, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

}  // namespace

CONFORM(cuLibraryLoadData, code_without_a_context) {
  CUlibrary one = nullptr, two = nullptr;
  expect_code("text", load(&one, program), CUDA_SUCCESS);
  auto image = fat_binary(program);
  expect_code("a fat binary", load(&two, image.data()), CUDA_SUCCESS);
  expect_true("two libraries", one && two && one != two);
  std::fill(image.begin(), image.end(), 0);
  Buffer word(4);
  REQUIRE(
      launch(reinterpret_cast<CUfunction>(kernel_in(one, "first")), 1, 1, nullptr, word.at(), 1u));
  expect("text runs", read<uint32_t>(word), 8u);
  REQUIRE(launch(reinterpret_cast<CUfunction>(kernel_in(two, "second")), 1, 1, nullptr, word.at()));
  expect("the fat binary runs without its image", read<uint32_t>(word), 12u);
}

CONFORM_WITH(cuLibraryLoadData, needs_no_context_too, initialised) {
  CUlibrary library = nullptr;
  unsigned count = 0;
  expect_code("loads", load(&library, program), CUDA_SUCCESS);
  REQUIRE(cuLibraryGetKernelCount(&count, library));
  expect("two kernels", count, 2u);
}

CONFORM(cuLibraryLoadData, options) {
  CUlibrary library = nullptr;
  CUlibraryOption preserved[] = {CU_LIBRARY_BINARY_IS_PRESERVED}, unknown[] = {CUlibraryOption(99)};
  void* yes[] = {reinterpret_cast<void*>(1)};
  CUjit_option level[] = {CU_JIT_OPTIMIZATION_LEVEL}, no_option[] = {CUjit_option(99)};
  void* four[] = {reinterpret_cast<void*>(4)};
  auto image = fat_binary(program);
  expect_code("a preserved binary",
              cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, preserved, yes, 1),
              CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(
      launch(reinterpret_cast<CUfunction>(kernel_in(library, "second")), 1, 1, nullptr, word.at()));
  expect("it runs", read<uint32_t>(word), 12u);
  expect_code("a compiler's option",
              cuLibraryLoadData(&library, program, level, four, 1, nullptr, nullptr, 0),
              CUDA_SUCCESS);
  expect_code("an unknown option",
              cuLibraryLoadData(&library, program, nullptr, nullptr, 0, unknown, yes, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("an unknown compiler's option",
              cuLibraryLoadData(&library, program, no_option, four, 1, nullptr, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no options",
              cuLibraryLoadData(&library, program, nullptr, nullptr, 0, nullptr, nullptr, 1),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuLibraryLoadData, what_cannot_run) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  expect_code("no code", load(&library, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", load(nullptr, program), CUDA_ERROR_INVALID_VALUE);
  expect_code("words", load(&library, "once upon a time"), CUDA_SUCCESS);
  expect_code("their kernels", cuLibraryGetKernel(&kernel, library, "k"), CUDA_ERROR_INVALID_IMAGE);
  auto newer = fat_binary(program, 999);
  expect_code("for a newer device", load(&library, newer.data()), CUDA_SUCCESS);
  expect_code("its kernels", cuLibraryGetKernel(&kernel, library, "first"),
              CUDA_ERROR_NO_BINARY_FOR_GPU);
  expect_code(
      "a syntax error",
      load(&library,
           ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {\n  reet;\n}\n"),
      CUDA_SUCCESS);
  expect_code("its kernel", cuLibraryGetKernel(&kernel, library, "k"), CUDA_ERROR_INVALID_PTX);
}

CONFORM_WITH(cuLibraryLoadData, needs_cuInit, nothing) {
  CUlibrary l;
  expect_code("not initialised", load(&l, program), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
