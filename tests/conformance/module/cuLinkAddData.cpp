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

CONFORM(cuLinkAddData, two_parts_make_a_program) {
  CUlinkState link = start();
  expect_code("first", add(link, part_one), CUDA_SUCCESS);
  expect_code("second", add(link, part_two), CUDA_SUCCESS);
  void* image = nullptr;
  size_t bytes = 0;
  REQUIRE(cuLinkComplete(link, &image, &bytes));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  REQUIRE(cuModuleLoadData(&module, image));
  REQUIRE(cuModuleGetFunction(&function, module, "run"));
  Buffer word(4);
  REQUIRE(launch(function, 1, 1, nullptr, word.at(), 21u));
  expect("called across", read<uint32_t>(word), 42u);
}

CONFORM(cuLinkAddData, wrong_inputs) {
  CUlinkState link = start();
  expect_code("no data",
              cuLinkAddData(link, CU_JIT_INPUT_PTX, nullptr, 10, "part", 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("wrong PTX", add(link, ".version 7.0\n.target sm_70\n.entry k( {"),
              CUDA_ERROR_INVALID_PTX);
  expect_code("unknown kind",
              cuLinkAddData(link, static_cast<CUjitInputType>(77), const_cast<char*>(part_two), 10,
                            "part", 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  char object[64] = "no object at all";
  expect_code(
      "no object",
      cuLinkAddData(link, CU_JIT_INPUT_OBJECT, object, sizeof object, "part", 0, nullptr, nullptr),
      CUDA_ERROR_INVALID_IMAGE);  // to measure on H200
  expect_code(
      "no library",
      cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, object, sizeof object, "part", 0, nullptr, nullptr),
      CUDA_ERROR_INVALID_IMAGE);  // to measure on H200
  expect_code("no link", add(nullptr, part_one), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
