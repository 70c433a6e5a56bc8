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

CUfunction function_of(const char* name) {
  CUfunction function = nullptr;
  REQUIRE(cuModuleGetFunction(&function, load(), name));
  return function;
}

}  // namespace

CONFORM(cuFuncSetSharedMemConfig, is_a_preference) {
  CUfunction function = function_of("first");
  expect_code("set", cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE),
              CUDA_SUCCESS);
  expect_code("unknown", cuFuncSetSharedMemConfig(function, static_cast<CUsharedconfig>(9)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function",
              cuFuncSetSharedMemConfig(nullptr, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuFuncSetSharedMemConfig, every_size) {
  CUmodule module = module_of_text(program);
  CUfunction function = function_in(module, "second");
  expect_code("default", cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
              CUDA_SUCCESS);
  expect_code("four", cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE),
              CUDA_SUCCESS);
  expect_code("eight",
              cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE),
              CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(launch(function, 1, 1, nullptr, word.at()));
  expect("it still runs", read<uint32_t>(word), 12u);
  expect_code("unknown", cuFuncSetSharedMemConfig(function, CUsharedconfig(3)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuFuncSetSharedMemConfig(function, CUsharedconfig(-1)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function",
              cuFuncSetSharedMemConfig(nullptr, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded",
              cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncSetSharedMemConfig, needs_a_context, initialised) {
  expect_code("no context",
              cuFuncSetSharedMemConfig(nullptr, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncSetSharedMemConfig, needs_cuInit, nothing) {
  expect_code("not initialised",
              cuFuncSetSharedMemConfig(nullptr, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
