#include "conformance/conform.h"
#include "conformance/fat_binary.h"
#include "conformance/texts.h"

#include <unistd.h>
#include <fstream>

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

CONFORM(cuModuleLoad, from_a_file) {
  const std::string path = "/tmp/limen_conform_module_" + std::to_string(getpid());
  std::ofstream(path) << ptx;
  CUmodule module = nullptr;
  expect_code("load", cuModuleLoad(&module, path.c_str()), CUDA_SUCCESS);
  unlink(path.c_str());
  CUfunction function = nullptr;
  expect_code("has the kernel", cuModuleGetFunction(&function, module, "first"), CUDA_SUCCESS);
  expect_code("no file", cuModuleLoad(&module, "/nowhere/at/all"), CUDA_ERROR_FILE_NOT_FOUND);
  expect_code("no path", cuModuleLoad(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  cuModuleUnload(load());
}

CONFORM(cuModuleLoad, code_of_a_file) {
  CUmodule module = nullptr;
  {
    TextFile file(program);
    expect_code("loads", cuModuleLoad(&module, file.path()), CUDA_SUCCESS);
  }
  Buffer word(4);
  REQUIRE(launch(function_in(module, "first"), 1, 1, nullptr, word.at(), 20u));
  expect("it runs without its file", read<uint32_t>(word), 27u);
}

CONFORM(cuModuleLoad, wrong_files) {
  CUmodule module = nullptr;
  TextFile good(program), empty(""), words("no code at all"),
      broken(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {\n  reet;\n}\n");
  expect_code("missing", cuModuleLoad(&module, "/nonexistent/module.ptx"),
              CUDA_ERROR_FILE_NOT_FOUND);
  expect_code("the empty name", cuModuleLoad(&module, ""), CUDA_ERROR_INVALID_VALUE);
  expect_code("a folder", cuModuleLoad(&module, "/tmp"), CUDA_ERROR_OUT_OF_MEMORY);
  expect_code("no name", cuModuleLoad(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleLoad(nullptr, good.path()), CUDA_ERROR_INVALID_VALUE);
  expect_code("empty", cuModuleLoad(&module, empty.path()),
              CUDA_ERROR_INVALID_IMAGE);
  expect_code("other words", cuModuleLoad(&module, words.path()), CUDA_ERROR_INVALID_IMAGE);
  expect_code("a syntax error", cuModuleLoad(&module, broken.path()), CUDA_ERROR_INVALID_PTX);
}

CONFORM_WITH(cuModuleLoad, needs_a_context, initialised) {
  CUmodule module;
  expect_code("no context", cuModuleLoad(&module, "/nonexistent"), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuModuleLoad, needs_cuInit, nothing) {
  CUmodule module;
  expect_code("not initialised", cuModuleLoad(&module, "/nonexistent"), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
