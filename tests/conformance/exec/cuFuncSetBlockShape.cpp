#include "conformance/conform.h"
#include "conformance/old_launch.h"

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

CONFORM(cuFuncSetBlockShape, of_old_launches) {
  CUfunction add = common_kernel("add");
  Buffer word(4);
  write<uint32_t>(word, 0);
  CUdeviceptr address = word;
  expect_code("shape", cuFuncSetBlockShape(add, 8, 4, 2), CUDA_SUCCESS);
  REQUIRE(cuParamSetv(add, 0, &address, 8));
  REQUIRE(cuParamSeti(add, 8, 1));
  REQUIRE(cuParamSetSize(add, 12));
  REQUIRE(cuLaunch(add));
  expect("64 threads", read<uint32_t>(word), 64u);
  expect_code("nothing", cuFuncSetBlockShape(add, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncSetBlockShape(nullptr, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
  expect_true("another", function_of("second") != nullptr);
}

CONFORM(cuFuncSetBlockShape, is_the_shape_of_the_launch) {
  CUfunction shape = function_in(module_of_text(launches_text), "shape");
  Buffer words(24);
  set_address(shape, words);
  expect_code("sets", cuFuncSetBlockShape(shape, 4, 5, 6), CUDA_SUCCESS);
  REQUIRE(cuLaunch(shape));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("x", read<uint32_t>(words), 4u);
  expect("y", read<uint32_t>(words.at(4)), 5u);
  expect("z", read<uint32_t>(words.at(8)), 6u);
  expect_code("no threads in x", cuFuncSetBlockShape(shape, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads in y", cuFuncSetBlockShape(shape, 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads in z", cuFuncSetBlockShape(shape, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuFuncSetBlockShape(shape, -1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("1025 threads", cuFuncSetBlockShape(shape, 1025, 1, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("its launch", cuLaunch(shape), CUDA_SUCCESS);
  expect_code("no function", cuFuncSetBlockShape(nullptr, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncSetBlockShape, needs_a_context, initialised) {
  expect_code("no context", cuFuncSetBlockShape(nullptr, 1, 1, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuFuncSetBlockShape, needs_cuInit, nothing) {
  expect_code("not initialised", cuFuncSetBlockShape(nullptr, 1, 1, 1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
