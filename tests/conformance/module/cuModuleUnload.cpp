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

CUmodule load() {
  CUmodule module = nullptr;
  REQUIRE(cuModuleLoadData(&module, ptx));
  return module;
}

}  // namespace

CONFORM(cuModuleUnload, its_functions_are_gone) {
  CUmodule module = load();
  CUfunction function = nullptr;
  REQUIRE(cuModuleGetFunction(&function, module, "first"));
  expect_code("unload", cuModuleUnload(module), CUDA_SUCCESS);
  unsigned count = 0;
  expect_code("its handle", cuModuleGetFunctionCount(&count, module), CUDA_ERROR_INVALID_HANDLE);
  expect_code("twice", cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  expect_code("none", cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuModuleUnload, takes_functions_and_variables_along) {
  CUmodule module = module_of_text(program);
  CUfunction function = function_in(module, "first");
  CUdeviceptr counter = 0;
  REQUIRE(cuModuleGetGlobal(&counter, nullptr, module, "counter"));
  Buffer word(4);
  REQUIRE(launch(function, 1, 1, nullptr, word.at(), 1u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect_code("unloads", cuModuleUnload(module), CUDA_SUCCESS);
  unsigned count = 0;
  size_t bytes = 0;
  expect_code("its handle", cuModuleGetFunctionCount(&count, module), CUDA_ERROR_INVALID_HANDLE);
  expect_code("its function", launch(function, 1, 1, nullptr, word.at(), 1u),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("its variable", cuMemGetAddressRange(nullptr, &bytes, counter), CUDA_ERROR_NOT_FOUND);
  expect_code("twice", cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  expect_code("none", cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuModuleUnload, of_a_library) {
  CUmodule module = nullptr;
  REQUIRE(cuLibraryGetModule(&module, library_of_text(program)));
  expect_code("belongs to the library", cuModuleUnload(module), CUDA_ERROR_NOT_PERMITTED);
}

CONFORM(cuModuleUnload, a_thousand_times) {
  int failures = 0;
  for (int i = 0; i < 1000; ++i) {
    CUmodule module = nullptr;
    failures += cuModuleLoadData(&module, program) != CUDA_SUCCESS;
    failures += cuModuleUnload(module) != CUDA_SUCCESS;
  }
  expect("no failure", failures, 0);
}

// Together the modules would have more than the device's memory. What is free cannot be asked:
// others use the device, too.
CONFORM(cuModuleUnload, memory_comes_back) {
  constexpr const char* large =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .global .align 16 .b8 large[1073741824];\n"
      ".visible .entry k() {\n  .reg .b32 %r;\n  mov.u32 %r, 1;\n"
      "  st.global.u32 [large], %r;\n  ret;\n}\n";
  constexpr size_t bytes = size_t{1} << 30;
  size_t free = 0, total = 0;
  REQUIRE(cuMemGetInfo(&free, &total));
  int failures = 0;
  for (size_t i = 0; i < total / bytes + 8; ++i) {
    CUmodule module = nullptr;
    CUdeviceptr address = 0;
    failures += cuModuleLoadData(&module, large) != CUDA_SUCCESS;
    failures += cuModuleGetGlobal(&address, nullptr, module, "large") != CUDA_SUCCESS;
    failures += cuModuleUnload(module) != CUDA_SUCCESS;
  }
  expect("no failure", failures, 0);
}

CONFORM(cuModuleUnload, foreign_memory) {
  expect_code("refused", cuModuleUnload(foreign_handle<CUmodule>()), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleUnload, needs_a_context, initialised) {
  expect_code("no context", cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleUnload, needs_cuInit, nothing) {
  expect_code("not initialised", cuModuleUnload(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
