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

CONFORM(cuLaunchKernel, parameters_both_ways) {
  CUfunction function = function_of("first");
  Buffer word(4);
  CUdeviceptr address = word;
  uint32_t value = 5;
  void* params[] = {&address, &value};
  expect_code("list", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr),
              CUDA_SUCCESS);
  expect("result", read<uint32_t>(word), 5u);
  struct {
    CUdeviceptr address;
    uint32_t value;
  } packed{word, 6};
  size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  expect_code("buffer", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
              CUDA_SUCCESS);
  expect("its result", read<uint32_t>(word), 6u);
  expect_code("both", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, extra),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("neither", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuLaunchKernel, wrong_shapes) {
  CUfunction function = function_of("second");
  auto shape = [&](unsigned grid_y, unsigned block_x, unsigned block_z) {
    return cuLaunchKernel(function, 1, grid_y, 1, block_x, 1, block_z, 0, nullptr, nullptr,
                          nullptr);
  };
  expect_code("good", shape(1, 1024, 1), CUDA_SUCCESS);
  expect_code("no blocks", shape(0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("65536 rows of blocks", shape(65536, 1, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads", shape(1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("1025 threads", shape(1, 1025, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("65 layers of threads", shape(1, 1, 65), CUDA_ERROR_INVALID_VALUE);
  CUfunction bounded = function_of("first");
  Buffer word(4);
  expect_code("above .maxntid", launch(bounded, 1, 512, nullptr, word.at(), 1u),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
