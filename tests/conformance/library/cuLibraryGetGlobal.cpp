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

CONFORM(cuLibraryGetGlobal, has_its_first_value) {
  CUlibrary library = load();
  CUdeviceptr address = 0;
  size_t bytes = 0;
  expect_code("get", cuLibraryGetGlobal(&address, &bytes, library, "counter"), CUDA_SUCCESS);
  expect("size", bytes, 4u);
  expect("value", read<uint32_t>(address), 7u);
  expect_code("absent", cuLibraryGetGlobal(&address, &bytes, library, "nothing"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuLibraryGetGlobal(&address, &bytes, library, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_true("lives", kernel_of(library, "first") != nullptr);
}

CONFORM(cuLibraryGetGlobal, variables_by_name) {
  CUlibrary library = library_of_text(program);
  CUdeviceptr counter = 0, again = 0;
  size_t bytes = 0;
  expect_code("global", cuLibraryGetGlobal(&counter, &bytes, library, "counter"), CUDA_SUCCESS);
  expect("its size", bytes, 4u);
  expect("its value", read<uint32_t>(counter), 7u);
  write<uint32_t>(counter, 50);
  Buffer word(4);
  REQUIRE(launch(reinterpret_cast<CUfunction>(kernel_in(library, "first")), 1, 1, nullptr,
                 word.at(), 1u));
  expect("kernels see a new value", read<uint32_t>(word), 51u);
  CUmodule module = nullptr;
  REQUIRE(cuLibraryGetModule(&module, library));
  REQUIRE(cuModuleGetGlobal(&again, nullptr, module, "counter"));
  expect_true("that of its module", again == counter);
  expect_code("only the size", cuLibraryGetGlobal(nullptr, &bytes, library, "table"), CUDA_SUCCESS);
  expect("the size", bytes, 16u);
  again = 0;
  expect_code("only the address", cuLibraryGetGlobal(&again, nullptr, library, "counter"),
              CUDA_SUCCESS);
  expect_true("the address", again == counter);
}

CONFORM(cuLibraryGetGlobal, each_context_has_its_own) {
  CUlibrary library = library_of_text(program);
  CUdeviceptr one = 0, two = 0;
  CUcontext made = nullptr;
  REQUIRE(cuLibraryGetGlobal(&one, nullptr, library, "counter"));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("asks", cuLibraryGetGlobal(&two, nullptr, library, "counter"), CUDA_SUCCESS);
  expect_true("another", one != two);
}

CONFORM(cuLibraryGetGlobal, wrong_arguments) {
  CUlibrary library = library_of_text(program);
  CUdeviceptr address = 0;
  size_t bytes = 0;
  expect_code("no such name", cuLibraryGetGlobal(&address, &bytes, library, "nobody"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("a kernel's name", cuLibraryGetGlobal(&address, &bytes, library, "first"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no name", cuLibraryGetGlobal(&address, &bytes, library, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("nothing asked", cuLibraryGetGlobal(nullptr, nullptr, library, "counter"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no library", cuLibraryGetGlobal(&address, &bytes, nullptr, "counter"),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuLibraryGetGlobal(&address, &bytes, library, "counter"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryGetGlobal, no_context, initialised) {
  CUlibrary library = library_of_text(program);
  CUdeviceptr address = 0;
  expect_code("asks", cuLibraryGetGlobal(&address, nullptr, library, "counter"),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuLibraryGetGlobal, needs_cuInit, nothing) {
  CUdeviceptr a;
  size_t n;
  expect_code("not initialised", cuLibraryGetGlobal(&a, &n, nullptr, "counter"),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
