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

CONFORM(cuModuleLoadDataEx, errors_go_to_the_log) {
  char log[1024] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  expect_code("good", cuModuleLoadDataEx(&module, ptx, 2, options, values), CUDA_SUCCESS);
  CUfunction function = nullptr;
  expect_code("has the kernel", cuModuleGetFunction(&function, module, "second"), CUDA_SUCCESS);
  values[1] = reinterpret_cast<void*>(sizeof log);
  expect_code("bad",
              cuModuleLoadDataEx(&module,
                                 ".version 7.0\n.target sm_70\n.address_size 64\n"
                                 ".entry k() { no.such.thing; }\n",
                                 2, options, values),
              CUDA_ERROR_INVALID_PTX);
  expect_true("the log has text", log[0] != 0);
  expect_true("that names the line", std::string(log).find("line 4") != std::string::npos);
  expect_code("no text", cuModuleLoadDataEx(&module, nullptr, 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  cuModuleUnload(load());
}

}  // namespace limen::conform
