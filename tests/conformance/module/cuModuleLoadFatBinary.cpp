#include "conformance/conform.h"
#include "conformance/fat_binary.h"
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

CONFORM(cuModuleLoadFatBinary, takes_what_load_data_takes) {
  CUmodule module = nullptr;
  expect_code("text", cuModuleLoadFatBinary(&module, ptx), CUDA_SUCCESS);
  CUfunction function = nullptr;
  expect_code("has the kernel", cuModuleGetFunction(&function, module, "first"), CUDA_SUCCESS);
  expect_code("nothing", cuModuleLoadFatBinary(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  cuModuleUnload(load());
}

CONFORM(cuModuleLoadFatBinary, code_of_a_fat_binary) {
  auto image = fat_binary(program);
  CUmodule module = nullptr;
  expect_code("loads", cuModuleLoadFatBinary(&module, image.data()), CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(launch(function_in(module, "first"), 1, 1, nullptr, word.at(), 3u));
  expect("counter plus 3", read<uint32_t>(word), 10u);
}

CONFORM(cuModuleLoadFatBinary, what_is_no_code) {
  auto image = fat_binary(program), newer = fat_binary(program, 999);
  CUmodule module = nullptr;
  expect_code("no image", cuModuleLoadFatBinary(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleLoadFatBinary(nullptr, image.data()), CUDA_ERROR_INVALID_VALUE);
  expect_code("for a newer device", cuModuleLoadFatBinary(&module, newer.data()),
              CUDA_ERROR_NO_BINARY_FOR_GPU);
  auto broken = fat_binary("this is no PTX");
  expect_code("of no PTX", cuModuleLoadFatBinary(&module, broken.data()), CUDA_ERROR_INVALID_PTX);
  uint64_t empty[2] = {image[0], 0};
  expect_code("without an entry", cuModuleLoadFatBinary(&module, empty),
              CUDA_ERROR_NO_BINARY_FOR_GPU);
  expect_true("no handle", module == nullptr);
}

CONFORM_WITH(cuModuleLoadFatBinary, needs_a_context, initialised) {
  auto image = fat_binary(program);
  CUmodule m;
  expect_code("no context", cuModuleLoadFatBinary(&m, image.data()), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuModuleLoadFatBinary, needs_cuInit, nothing) {
  auto image = fat_binary(program);
  CUmodule m;
  expect_code("not initialised", cuModuleLoadFatBinary(&m, image.data()),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
