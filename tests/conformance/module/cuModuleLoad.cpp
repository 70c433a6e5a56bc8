#include <unistd.h>

#include <fstream>

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

}  // namespace limen::conform
