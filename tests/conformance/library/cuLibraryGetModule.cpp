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

CONFORM(cuLibraryGetModule, of_the_context) {
  CUlibrary library = load();
  CUmodule module = nullptr, again = nullptr;
  expect_code("get", cuLibraryGetModule(&module, library), CUDA_SUCCESS);
  expect_code("again", cuLibraryGetModule(&again, library), CUDA_SUCCESS);
  expect_true("the same", module == again);
  CUfunction function = nullptr;
  REQUIRE(cuModuleGetFunction(&function, module, "first"));
  Buffer word(4);
  REQUIRE(launch(function, 1, 1, nullptr, word.at(), 4u));
  expect("works", read<uint32_t>(word), 4u);
  expect_code("no result", cuLibraryGetModule(nullptr, library), CUDA_ERROR_INVALID_VALUE);
  expect_true("lives", kernel_of(library, "first") != nullptr);
}

CONFORM_WITH(cuLibraryGetModule, needs_a_context, initialised) {
  CUmodule module = nullptr;
  expect_code("none", cuLibraryGetModule(&module, load()), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuLibraryGetModule, one_module_a_context) {
  CUlibrary library = library_of_text(program);
  CUmodule one = nullptr, again = nullptr, other = nullptr;
  expect_code("asks", cuLibraryGetModule(&one, library), CUDA_SUCCESS);
  expect_code("again", cuLibraryGetModule(&again, library), CUDA_SUCCESS);
  expect_true("the same", one == again && one);
  Buffer word(4);
  REQUIRE(launch(function_in(one, "first"), 1, 1, nullptr, word.at(), 4u));
  expect("it runs", read<uint32_t>(word), 11u);
  CUcontext made = nullptr;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("in another context", cuLibraryGetModule(&other, library), CUDA_SUCCESS);
  expect_true("another module", other != one);
  expect_code("no result", cuLibraryGetModule(nullptr, library), CUDA_ERROR_INVALID_VALUE);
  expect_code("no library", cuLibraryGetModule(&one, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuLibraryGetModule(&one, library), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryGetModule, no_context, initialised) {
  CUlibrary library = library_of_text(program);
  CUmodule module = nullptr;
  expect_code("asks", cuLibraryGetModule(&module, library), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuLibraryGetModule, needs_cuInit, nothing) {
  CUmodule m;
  expect_code("not initialised", cuLibraryGetModule(&m, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
