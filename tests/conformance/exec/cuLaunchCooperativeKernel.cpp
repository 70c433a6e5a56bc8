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

CONFORM(cuLaunchCooperativeKernel, all_blocks_or_none) {
  CUfunction function = function_of("first");
  Buffer word(4);
  CUdeviceptr address = word;
  uint32_t value = 3;
  void* params[] = {&address, &value};
  expect_code("some blocks",
              cuLaunchCooperativeKernel(function, 2, 1, 1, 64, 1, 1, 0, nullptr, params),
              CUDA_SUCCESS);
  expect("they ran", read<uint32_t>(word), 3u);
  expect_code("more than fit",
              cuLaunchCooperativeKernel(function, 1000000, 1, 1, 64, 1, 1, 0, nullptr, params),
              CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  expect_code("no function",
              cuLaunchCooperativeKernel(nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, params),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
