#include "conformance/conform.h"

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

CONFORM(cuLinkComplete, names_what_is_missing) {
  CUlinkState link = start();
  REQUIRE(add(link, part_two));
  void* image = nullptr;
  size_t bytes = 0;
  expect_code("complete", cuLinkComplete(link, &image, &bytes), CUDA_SUCCESS);
  expect_true("an image", image && bytes > 0);
  CUmodule module = nullptr;
  expect_code("loads", cuModuleLoadData(&module, image), CUDA_SUCCESS);
  CUlinkState lacking = start();
  REQUIRE(add(lacking, part_one));
  expect_true("unresolved", cuLinkComplete(lacking, &image, &bytes) != CUDA_SUCCESS);
  expect_code("no result", cuLinkComplete(start(), nullptr, &bytes), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
