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

}  // namespace

CONFORM(cuModuleLoadData, kernels_run) {
  CUmodule module = nullptr;
  expect_code("load", cuModuleLoadData(&module, ptx), CUDA_SUCCESS);
  CUfunction function = nullptr;
  REQUIRE(cuModuleGetFunction(&function, module, "first"));
  Buffer word(4);
  REQUIRE(launch(function, 1, 1, nullptr, word.at(), 31u));
  expect("result", read<uint32_t>(word), 31u);
  expect_code("no text", cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleLoadData(nullptr, ptx), CUDA_ERROR_INVALID_VALUE);
  expect_code("no PTX", cuModuleLoadData(&module, "these are words\n"), CUDA_ERROR_INVALID_IMAGE);
  expect_code("wrong PTX",
              cuModuleLoadData(&module,
                               ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".entry k() { no.such.thing; }\n"),
              CUDA_ERROR_INVALID_PTX);
  CUmodule again = load();
  expect_true("twice gives two", again != module);
}

}  // namespace limen::conform
