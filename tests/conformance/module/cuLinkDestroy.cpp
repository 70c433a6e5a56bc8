#include "conformance/conform.h"
#include "conformance/linked.h"

namespace limen::conform {
namespace {

constexpr const char* part_one = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 out) twice(.param .b32 in);
.visible .entry run(.param .u64 a, .param .u32 b) {
  .reg .b64 %a; .reg .b32 %b;
  ld.param.u64 %a, [a]; ld.param.u32 %b, [b];
  {
    .param .b32 p; .param .b32 q;
    st.param.b32 [p], %b;
    call (q), twice, (p);
    ld.param.b32 %b, [q];
  }
  st.global.u32 [%a], %b;
  ret;
}
)";
constexpr const char* part_two = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 out) twice(.param .b32 in) {
  .reg .b32 %x;
  ld.param.b32 %x, [in];
  add.u32 %x, %x, %x;
  st.param.b32 [out], %x;
  ret;
}
)";

CUlinkState start() {
  CUlinkState link = nullptr;
  REQUIRE(cuLinkCreate(0, nullptr, nullptr, &link));
  return link;
}

CUresult add(CUlinkState link, const char* text) {
  return cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1,
                       "part", 0, nullptr, nullptr);
}

}  // namespace

CONFORM(cuLinkDestroy, ends_the_state) {
  CUlinkState link = start();
  expect_code("none", cuLinkDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("destroy", cuLinkDestroy(link), CUDA_SUCCESS);
  REQUIRE(add(start(), part_two));
  // NVIDIA's driver crashes here.
  expect_code("then", add(link, part_one), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuLinkDestroy, the_state_is_gone) {
  CUlinkState state = new_link();
  add_text(state, callee);
  add_text(state, caller);
  void* image = nullptr;
  size_t bytes = 0;
  REQUIRE(cuLinkComplete(state, &image, &bytes));
  CUmodule module = nullptr;
  REQUIRE(cuModuleLoadData(&module, image));
  expect_code("destroys", cuLinkDestroy(state), CUDA_SUCCESS);
  expect_code("its image may go",
              cuModuleGetFunction(reinterpret_cast<CUfunction*>(foreign_memory()), module, "main"),
              CUDA_SUCCESS);
  CUlinkState other = new_link();
  expect_code("before it is complete", cuLinkDestroy(other), CUDA_SUCCESS);
  expect_code("none", cuLinkDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  // NVIDIA's driver crashes here with a lock held: no call may follow.
  expect_code("twice", cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLinkDestroy, needs_a_context, initialised) {
  expect_code("no context", cuLinkDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLinkDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuLinkDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
