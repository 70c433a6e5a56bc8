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

CONFORM(cuModuleGetGlobal, has_its_first_value) {
  CUmodule module = load();
  CUdeviceptr address = 0;
  size_t bytes = 0;
  expect_code("get", cuModuleGetGlobal(&address, &bytes, module, "counter"), CUDA_SUCCESS);
  expect("size", bytes, 4u);
  expect("value", read<uint32_t>(address), 7u);
  expect_code("size only", cuModuleGetGlobal(nullptr, &bytes, module, "counter"), CUDA_SUCCESS);
  expect_code("absent", cuModuleGetGlobal(&address, &bytes, module, "nothing"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuModuleGetGlobal(&address, &bytes, module, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuModuleGetGlobal, variables_by_name) {
  CUmodule module = module_of_text(program);
  CUdeviceptr counter = 0, constant = 0, again = 0;
  size_t bytes = 0;
  expect_code("global", cuModuleGetGlobal(&counter, &bytes, module, "counter"), CUDA_SUCCESS);
  expect("its size", bytes, 4u);
  expect("its value", read<uint32_t>(counter), 7u);
  write<uint32_t>(counter, 100);
  Buffer word(4);
  REQUIRE(launch(function_in(module, "first"), 1, 1, nullptr, word.at(), 1u));
  expect("kernels see a new value", read<uint32_t>(word), 101u);
  expect_code("constant", cuModuleGetGlobal(&constant, &bytes, module, "table"), CUDA_SUCCESS);
  expect("its size in bytes", bytes, 16u);
  write<uint32_t>(constant + 4, 55);
  REQUIRE(launch(function_in(module, "second"), 1, 1, nullptr, word.at()));
  expect("kernels see a new constant", read<uint32_t>(word), 55u);
  expect_code("only the address", cuModuleGetGlobal(&again, nullptr, module, "counter"),
              CUDA_SUCCESS);
  expect_true("the same", again == counter);
  bytes = 0;
  expect_code("only the size", cuModuleGetGlobal(nullptr, &bytes, module, "table"), CUDA_SUCCESS);
  expect("the size", bytes, 16u);
}

CONFORM(cuModuleGetGlobal, wrong_arguments) {
  CUmodule module = module_of_text(program);
  CUdeviceptr address = 0;
  size_t bytes = 0;
  expect_code("no such name", cuModuleGetGlobal(&address, &bytes, module, "nobody"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("the name of a kernel", cuModuleGetGlobal(&address, &bytes, module, "first"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("a variable of the module's own",
              cuModuleGetGlobal(&address, &bytes, module, "hidden"),
              CUDA_SUCCESS);
  expect_code("the empty name", cuModuleGetGlobal(&address, &bytes, module, ""),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no name", cuModuleGetGlobal(&address, &bytes, module, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("nothing asked", cuModuleGetGlobal(nullptr, nullptr, module, "counter"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no module", cuModuleGetGlobal(&address, &bytes, nullptr, "counter"),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuModuleGetGlobal(&address, &bytes, module, "counter"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetGlobal, needs_a_context, initialised) {
  CUdeviceptr a;
  size_t n;
  expect_code("no context", cuModuleGetGlobal(&a, &n, nullptr, "counter"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetGlobal, needs_cuInit, nothing) {
  CUdeviceptr a;
  size_t n;
  expect_code("not initialised", cuModuleGetGlobal(&a, &n, nullptr, "counter"),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
