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

CONFORM(cuLinkCreate, makes_a_state) {
  CUlinkState link = nullptr;
  expect_code("create", cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  expect_true("a handle", link != nullptr);
  expect_code("takes input", add(link, part_two), CUDA_SUCCESS);
  expect_code("no result", cuLinkCreate(0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(add(start(), part_one));
}

CONFORM_WITH(cuLinkCreate, needs_a_context, initialised) {
  CUlinkState link = nullptr;
  expect_code("none", cuLinkCreate(0, nullptr, nullptr, &link), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuLinkCreate, a_state_of_its_own) {
  CUlinkState one = nullptr, two = nullptr;
  expect_code("one", cuLinkCreate(0, nullptr, nullptr, &one), CUDA_SUCCESS);
  expect_code("two", cuLinkCreate(0, nullptr, nullptr, &two), CUDA_SUCCESS);
  expect_true("apart", one && two && one != two);
  add_text(one, callee);
  add_text(one, caller);
  expect("it links", run_linked(one), 42u);
  expect_code("the other knows nothing of it",
              cuLinkAddData(two, CU_JIT_INPUT_PTX, const_cast<char*>(callee),
                            std::strlen(callee) + 1, "callee", 0, nullptr, nullptr),
              CUDA_SUCCESS);
}

CONFORM(cuLinkCreate, logs_go_to_its_buffers) {
  char error[512] = "", info[512] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {error, reinterpret_cast<void*>(sizeof error), info,
                    reinterpret_cast<void*>(sizeof info)};
  CUlinkState state = nullptr;
  expect_code("with logs", cuLinkCreate(4, options, values, &state), CUDA_SUCCESS);
  const char* broken =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .func f() {\n  reet;\n}\n";
  expect_code("a syntax error",
              cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(broken),
                            std::strlen(broken) + 1, "broken", 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_PTX);
  expect_true("its line", std::strstr(error, "line 5") != nullptr);
}

CONFORM(cuLinkCreate, wrong_arguments) {
  CUlinkState state = nullptr;
  CUjit_option option = CUjit_option(99);
  void* value = nullptr;
  expect_code("no result", cuLinkCreate(0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no options", cuLinkCreate(1, nullptr, nullptr, &state),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("an unknown option", cuLinkCreate(1, &option, &value, &state),
              CUDA_ERROR_INVALID_VALUE);
  expect_true("no handle", state == nullptr);
  auto first = reinterpret_cast<CUresult (*)(unsigned, CUjit_option*, void**, CUlinkState*)>(
      driver_symbol("cuLinkCreate"));
  expect_code("first ABI", first(0, nullptr, nullptr, &state), CUDA_SUCCESS);
  expect_code("first ABI, no result", first(0, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuLinkCreate, needs_a_context_too, initialised) {
  CUlinkState s;
  expect_code("no context", cuLinkCreate(0, nullptr, nullptr, &s), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuLinkCreate, needs_cuInit, nothing) {
  CUlinkState s;
  expect_code("not initialised", cuLinkCreate(0, nullptr, nullptr, &s), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
