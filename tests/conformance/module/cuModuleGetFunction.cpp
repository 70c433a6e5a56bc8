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

CONFORM(cuModuleGetFunction, by_name) {
  CUmodule module = load();
  CUfunction first = nullptr, second = nullptr, again = nullptr;
  expect_code("first", cuModuleGetFunction(&first, module, "first"), CUDA_SUCCESS);
  expect_code("second", cuModuleGetFunction(&second, module, "second"), CUDA_SUCCESS);
  expect_true("differ", first != second);
  expect_code("again", cuModuleGetFunction(&again, module, "first"), CUDA_SUCCESS);
  expect_true("the same", first == again);
  expect_code("absent", cuModuleGetFunction(&first, module, "third"), CUDA_ERROR_NOT_FOUND);
  expect_code("a variable", cuModuleGetFunction(&first, module, "counter"), CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuModuleGetFunction(&first, module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no module", cuModuleGetFunction(&first, nullptr, "first"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuModuleGetFunction, kernels_by_name) {
  CUmodule module = module_of_text(program);
  CUfunction first = nullptr, again = nullptr, second = nullptr;
  expect_code("first", cuModuleGetFunction(&first, module, "first"), CUDA_SUCCESS);
  expect_code("first again", cuModuleGetFunction(&again, module, "first"), CUDA_SUCCESS);
  expect_true("the same handle", first == again && first);
  expect_code("second", cuModuleGetFunction(&second, module, "second"), CUDA_SUCCESS);
  expect_true("another", second != first);
  Buffer word(4);
  REQUIRE(launch(second, 1, 1, nullptr, word.at()));
  expect("it runs", read<uint32_t>(word), 12u);
  CUmodule other = module_of_text(program);
  expect_code("of another module", cuModuleGetFunction(&again, other, "first"), CUDA_SUCCESS);
  expect_true("its own", again != first);
}

CONFORM(cuModuleGetFunction, wrong_arguments) {
  CUmodule module = module_of_text(program);
  CUfunction function = nullptr;
  expect_code("no such name", cuModuleGetFunction(&function, module, "third"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("the name of a variable", cuModuleGetFunction(&function, module, "counter"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("the empty name", cuModuleGetFunction(&function, module, ""),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("a part of a name", cuModuleGetFunction(&function, module, "firs"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuModuleGetFunction(&function, module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleGetFunction(nullptr, module, "first"), CUDA_ERROR_INVALID_VALUE);
  expect_code("no module", cuModuleGetFunction(&function, nullptr, "first"),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuModuleGetFunction(&function, module, "first"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuModuleGetFunction, foreign_memory) {
  CUfunction function = nullptr;
  expect_code("refused", cuModuleGetFunction(&function, foreign_handle<CUmodule>(), "first"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetFunction, needs_a_context, initialised) {
  CUfunction f;
  expect_code("no context", cuModuleGetFunction(&f, nullptr, "first"), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetFunction, needs_cuInit, nothing) {
  CUfunction f;
  expect_code("not initialised", cuModuleGetFunction(&f, nullptr, "first"),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
