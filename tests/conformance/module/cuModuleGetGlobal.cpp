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

CONFORM(cuModuleGetGlobal, has_its_first_value) {
  CUmodule module = load();
  CUdeviceptr address = 0;
  size_t bytes = 0;
  expect_code("get", cuModuleGetGlobal(&address, &bytes, module, "counter"), CUDA_SUCCESS);
  expect("size", bytes, 4u);
  expect("value", read<uint32_t>(address), 7u);
  expect_code("size only", cuModuleGetGlobal(nullptr, &bytes, module, "counter"), CUDA_SUCCESS);
  expect_code("absent", cuModuleGetGlobal(&address, &bytes, module, "nothing"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuModuleGetGlobal(&address, &bytes, module, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
