#include "conformance/conform.h"

namespace limen::conform {
namespace {

constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.global .texref picture;
.global .surfref canvas;
.visible .global .align 4 .u32 counter = 7;
.visible .entry nothing() { ret; }
)";

}  // namespace

CONFORM(cuModuleGetTexRef, by_name) {
  CUmodule module = nullptr;
  REQUIRE(cuModuleLoadData(&module, ptx));
  CUtexref one = nullptr, two = nullptr;
  expect_code("get", cuModuleGetTexRef(&one, module, "picture"), CUDA_SUCCESS);
  expect_code("again", cuModuleGetTexRef(&two, module, "picture"), CUDA_SUCCESS);
  expect_true("the same", one == two);
  REQUIRE(cuTexRefSetFilterMode(one, CU_TR_FILTER_MODE_LINEAR));
  CUfilter_mode mode = CU_TR_FILTER_MODE_POINT;
  REQUIRE(cuTexRefGetFilterMode(&mode, two));
  expect("what one sets the other has", mode, CU_TR_FILTER_MODE_LINEAR);
  expect_code("absent", cuModuleGetTexRef(&one, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  expect_code("no texture", cuModuleGetTexRef(&one, module, "counter"), CUDA_ERROR_NOT_FOUND);
  REQUIRE(cuModuleUnload(module));
  expect_code("gone with its module", cuTexRefSetFilterMode(two, CU_TR_FILTER_MODE_POINT),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
}

}  // namespace limen::conform
