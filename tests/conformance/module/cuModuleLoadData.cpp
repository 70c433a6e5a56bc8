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

CONFORM(cuModuleLoadData, text_becomes_code) {
  CUmodule module = nullptr;
  expect_code("loads", cuModuleLoadData(&module, program), CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(launch(function_in(module, "first"), 1, 1, nullptr, word.at(), 5u));
  expect("counter plus 5", read<uint32_t>(word), 12u);
  REQUIRE(launch(function_in(module, "second"), 1, 1, nullptr, word.at()));
  expect("the constant", read<uint32_t>(word), 12u);
  CUmodule again = nullptr;
  expect_code("once more", cuModuleLoadData(&again, program), CUDA_SUCCESS);
  expect_true("another module", again != module);
  CUdeviceptr one = 0, two = 0;
  REQUIRE(cuModuleGetGlobal(&one, nullptr, module, "counter"));
  REQUIRE(cuModuleGetGlobal(&two, nullptr, again, "counter"));
  expect_true("with variables of its own", one != two);
}

CONFORM(cuModuleLoadData, a_fat_binary) {
  auto image = fat_binary(program);
  CUmodule module = nullptr;
  expect_code("loads", cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  std::fill(image.begin(), image.end(), 0);
  Buffer word(4);
  REQUIRE(launch(function_in(module, "first"), 1, 1, nullptr, word.at(), 1u));
  expect("it runs without its image", read<uint32_t>(word), 8u);
  auto newer = fat_binary(program, 999);
  expect_code("for a newer device", cuModuleLoadData(&module, newer.data()),
              CUDA_ERROR_NO_BINARY_FOR_GPU);
}

CONFORM(cuModuleLoadData, what_is_no_code) {
  CUmodule module = nullptr;
  expect_code("no image", cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleLoadData(nullptr, program), CUDA_ERROR_INVALID_VALUE);
  expect_code("the empty text", cuModuleLoadData(&module, ""), CUDA_ERROR_INVALID_IMAGE);
  expect_code("other words", cuModuleLoadData(&module, "once upon a time"),
              CUDA_ERROR_INVALID_IMAGE);
  expect_code(
      "a syntax error",
      cuModuleLoadData(
          &module,
          ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {\n  reet;\n}\n"),
      CUDA_ERROR_INVALID_PTX);
  expect_code("a newer language",
              cuModuleLoadData(&module, ".version 99.0\n.target sm_70\n.address_size 64\n"),
              CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  expect_code("a newer device",
              cuModuleLoadData(&module, ".version 7.0\n.target sm_999\n.address_size 64\n"),
              CUDA_ERROR_INVALID_PTX);
  expect_true("no handle", module == nullptr);
  alignas(8) static const unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  expect_code("an ELF header", cuModuleLoadData(&module, elf), CUDA_ERROR_INVALID_IMAGE);
}

CONFORM_WITH(cuModuleLoadData, needs_a_context, initialised) {
  CUmodule module;
  expect_code("no context", cuModuleLoadData(&module, program), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuModuleLoadData, needs_cuInit, nothing) {
  CUmodule module;
  expect_code("not initialised", cuModuleLoadData(&module, program), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
