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

CONFORM(cuFuncSetAttribute, more_dynamic_shared_memory) {
  CUfunction function = function_of("first");
  Buffer word(4);
  CUdeviceptr address = word;
  uint32_t value = 1;
  void* params[] = {&address, &value};
  expect_code("refused at first",
              cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 100000, nullptr, params, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("set",
              cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000),
              CUDA_SUCCESS);
  expect_code("allowed then",
              cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 100000, nullptr, params, nullptr),
              CUDA_SUCCESS);
  expect_code(
      "more than there is",
      cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20),
      CUDA_ERROR_INVALID_VALUE);
  expect_code("carveout above 100",
              cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("read only", cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncSetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, 1),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
