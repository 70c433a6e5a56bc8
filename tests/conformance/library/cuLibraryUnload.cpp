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

// NVIDIA's driver crashes in calls with what was unloaded, some of them with a lock held: each
// stands at the end of a case.
CONFORM(cuLibraryUnload, its_handles_are_gone) {
  CUlibrary library = load();
  expect_true("lives", kernel_of(library, "first") != nullptr);
  expect_code("none", cuLibraryUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("unload", cuLibraryUnload(library), CUDA_SUCCESS);
  unsigned count = 0;
  expect_code("its handle", cuLibraryGetKernelCount(&count, library), CUDA_ERROR_INVALID_HANDLE);
}

namespace {

/// A library that was used and unloaded, and what came from it. Never destroyed: see above.
struct Unloaded {
  CUlibrary library = library_of_text(program);
  CUkernel kernel = kernel_in(library, "first");
  CUmodule module = nullptr;
  Buffer word{4};
  Unloaded() {
    REQUIRE(cuLibraryGetModule(&module, library));
    REQUIRE(run());
    REQUIRE(cuCtxSynchronize(nullptr));
    expect_code("unloads", cuLibraryUnload(library), CUDA_SUCCESS);
  }
  CUresult run() {
    return launch(reinterpret_cast<CUfunction>(kernel), 1, 1, nullptr, word.at(), 1u);
  }
};

}  // namespace

CONFORM(cuLibraryUnload, its_kernels_are_gone) {
  Unloaded& unloaded = *new Unloaded;
  expect_code("launched", unloaded.run(), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuLibraryUnload, its_module_is_gone) {
  Unloaded& unloaded = *new Unloaded;
  unsigned count = 0;
  expect_code("asked", cuModuleGetFunctionCount(&count, unloaded.module),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuLibraryUnload, twice) {
  Unloaded& unloaded = *new Unloaded;
  expect_code("again", cuLibraryUnload(unloaded.library), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryUnload, needs_no_context, initialised) {
  CUlibrary library = library_of_text(program);
  expect_code("unloads", cuLibraryUnload(library), CUDA_SUCCESS);
}

CONFORM(cuLibraryUnload, foreign_memory) {
  expect_code("refused", cuLibraryUnload(foreign_handle<CUlibrary>()), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLibraryUnload, needs_cuInit, nothing) {
  expect_code("not initialised", cuLibraryUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
