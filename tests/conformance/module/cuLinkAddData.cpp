#include "conformance/conform.h"
#include "conformance/fat_binary.h"
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
              CUDA_ERROR_INVALID_VALUE);
  char object[64] = "no object at all";
  expect_code(
      "no object",
      cuLinkAddData(link, CU_JIT_INPUT_OBJECT, object, sizeof object, "part", 0, nullptr, nullptr),
      CUDA_ERROR_UNKNOWN);
  expect_code(
      "no library",
      cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, object, sizeof object, "part", 0, nullptr, nullptr),
      CUDA_ERROR_UNKNOWN);
  expect_code("no link", add(nullptr, part_one), CUDA_ERROR_INVALID_HANDLE);
}

namespace {

CUresult add(CUlinkState state, CUjitInputType type, const void* data, size_t bytes) {
  return cuLinkAddData(state, type, const_cast<void*>(data), bytes, "part", 0, nullptr, nullptr);
}

}  // namespace

CONFORM(cuLinkAddData, parts_are_joined) {
  CUlinkState state = new_link();
  expect_code("text", add(state, CU_JIT_INPUT_PTX, callee, std::strlen(callee) + 1), CUDA_SUCCESS);
  auto fat = fat_binary(caller);
  expect_code("a fat binary", add(state, CU_JIT_INPUT_FATBINARY, fat.data(), fat.size() * 8),
              CUDA_SUCCESS);
  std::fill(fat.begin(), fat.end(), 0);
  expect("nothing is kept of the data", run_linked(state), 42u);
}

CONFORM(cuLinkAddData, text_may_stand_for_a_fat_binary) {
  CUlinkState state = new_link();
  expect_code("callee", add(state, CU_JIT_INPUT_FATBINARY, callee, std::strlen(callee) + 1),
              CUDA_SUCCESS);
  expect_code("caller", add(state, CU_JIT_INPUT_PTX, caller, std::strlen(caller) + 1),
              CUDA_SUCCESS);
  expect("linked", run_linked(state), 42u);
}

CONFORM(cuLinkAddData, a_function_twice) {
  CUlinkState state = new_link();
  expect_code("first", add(state, CU_JIT_INPUT_PTX, callee, std::strlen(callee) + 1), CUDA_SUCCESS);
  expect_code("again", add(state, CU_JIT_INPUT_PTX, callee, std::strlen(callee) + 1),
              CUDA_ERROR_INVALID_SOURCE);
}

CONFORM(cuLinkAddData, the_name_may_be_missing) {
  CUlinkState state = new_link();
  expect_code("callee",
              cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(callee),
                            std::strlen(callee) + 1, nullptr, 0, nullptr, nullptr),
              CUDA_SUCCESS);
  auto first = reinterpret_cast<CUresult (*)(CUlinkState, CUjitInputType, void*, size_t,
                                             const char*, unsigned, CUjit_option*, void**)>(
      driver_symbol("cuLinkAddData"));
  expect_code("caller by the first ABI",
              first(state, CU_JIT_INPUT_PTX, const_cast<char*>(caller), std::strlen(caller) + 1,
                    nullptr, 0, nullptr, nullptr),
              CUDA_SUCCESS);
  expect("linked", run_linked(state), 42u);
}

CONFORM(cuLinkAddData, wrong_arguments) {
  CUlinkState state = new_link();
  CUjit_option option = CUjit_option(99);
  void* value = nullptr;
  expect_code("no state", add(nullptr, CU_JIT_INPUT_PTX, callee, 10), CUDA_ERROR_INVALID_HANDLE);
  expect_code("no data", add(state, CU_JIT_INPUT_PTX, nullptr, 10), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", add(state, CU_JIT_INPUT_PTX, callee, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown type", add(state, CUjitInputType(77), callee, std::strlen(callee) + 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("an unknown option",
              cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(callee),
                            std::strlen(callee) + 1, "p", 1, &option, &value),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("words", add(state, CU_JIT_INPUT_PTX, "once upon a time", 17),
              CUDA_ERROR_INVALID_IMAGE);
  expect_code("text as a fat binary",
              add(state, CU_JIT_INPUT_FATBINARY, callee, std::strlen(callee) + 1), CUDA_SUCCESS);
  expect_code("words as a cubin", add(state, CU_JIT_INPUT_CUBIN, "once upon a time", 17),
              CUDA_ERROR_INVALID_IMAGE);
  REQUIRE(cuLinkDestroy(state));
  expect_code("destroyed", add(state, CU_JIT_INPUT_PTX, callee, 10), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLinkAddData, needs_a_context, initialised) {
  expect_code("no context", add(nullptr, CU_JIT_INPUT_PTX, callee, 10), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLinkAddData, needs_cuInit, nothing) {
  expect_code("not initialised", add(nullptr, CU_JIT_INPUT_PTX, callee, 10),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
