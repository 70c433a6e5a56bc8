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

CONFORM(cuLinkComplete, gives_an_image_that_loads) {
  CUlinkState state = new_link();
  add_text(state, callee);
  add_text(state, caller);
  void *image = nullptr, *again = nullptr;
  size_t bytes = 0, size = 0;
  expect_code("completes", cuLinkComplete(state, &image, &bytes), CUDA_SUCCESS);
  expect_true("an image", image && bytes > 100);
  expect("it runs", run_image(image), 42u);
  expect_code("again", cuLinkComplete(state, &again, &size), CUDA_ERROR_INVALID_HANDLE);
  expect_true("no second image", !again && !size);
  expect_code("a part too late",
              cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(callee),
                            std::strlen(callee) + 1, "late", 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuLinkComplete, what_cannot_be_linked) {
  char error[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {error, reinterpret_cast<void*>(sizeof error)};
  CUlinkState state = nullptr;
  void* image = nullptr;
  size_t bytes = 0;
  REQUIRE(cuLinkCreate(2, options, values, &state));
  add_text(state, caller);
  expect_code("an undefined function", cuLinkComplete(state, &image, &bytes),
              CUDA_ERROR_INVALID_SOURCE);
  expect_true("is named", std::strstr(error, "triple") != nullptr);
}

CONFORM(cuLinkComplete, of_no_part) {
  void* image = nullptr;
  size_t bytes = 0;
  expect_code("completes", cuLinkComplete(new_link(), &image, &bytes), CUDA_SUCCESS);
}

CONFORM(cuLinkComplete, wrong_arguments) {
  CUlinkState state = new_link();
  add_text(state, callee);
  void* image = nullptr;
  size_t bytes = 0;
  expect_code("no state", cuLinkComplete(nullptr, &image, &bytes), CUDA_ERROR_INVALID_HANDLE);
  expect_code("no image", cuLinkComplete(state, nullptr, &bytes), CUDA_ERROR_INVALID_VALUE);
  expect_code("no size", cuLinkComplete(state, &image, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuLinkDestroy(state));
  expect_code("destroyed", cuLinkComplete(state, &image, &bytes), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLinkComplete, needs_a_context, initialised) {
  void* i;
  size_t n;
  expect_code("no context", cuLinkComplete(nullptr, &i, &n), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLinkComplete, needs_cuInit, nothing) {
  void* i;
  size_t n;
  expect_code("not initialised", cuLinkComplete(nullptr, &i, &n), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
