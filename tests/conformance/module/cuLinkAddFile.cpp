#include "conformance/conform.h"
#include "conformance/linked.h"

#include <unistd.h>
#include <fstream>

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

CONFORM(cuLinkAddFile, from_a_file) {
  const std::string path = "/tmp/limen_conform_link_" + std::to_string(getpid());
  std::ofstream(path) << part_two;
  CUlinkState link = start();
  expect_code("file", cuLinkAddFile(link, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr),
              CUDA_SUCCESS);
  unlink(path.c_str());
  REQUIRE(add(link, part_one));
  void* image = nullptr;
  size_t bytes = 0;
  REQUIRE(cuLinkComplete(link, &image, &bytes));
  expect_true("an image", image && bytes > 0);
  CUlinkState other = start();
  expect_code("no file",
              cuLinkAddFile(other, CU_JIT_INPUT_PTX, "/nowhere/at/all", 0, nullptr, nullptr),
              CUDA_ERROR_FILE_NOT_FOUND);
  expect_code("no path", cuLinkAddFile(other, CU_JIT_INPUT_PTX, nullptr, 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuLinkAddFile, parts_are_joined) {
  CUlinkState state = new_link();
  {
    TextFile one(callee), two(caller);
    expect_code("one", cuLinkAddFile(state, CU_JIT_INPUT_PTX, one.path(), 0, nullptr, nullptr),
                CUDA_SUCCESS);
    auto first =
        reinterpret_cast<CUresult (*)(CUlinkState, CUjitInputType, const char*, unsigned,
                                      CUjit_option*, void**)>(driver_symbol("cuLinkAddFile"));
    expect_code("two by the first ABI",
                first(state, CU_JIT_INPUT_PTX, two.path(), 0, nullptr, nullptr), CUDA_SUCCESS);
  }
  expect("linked without the files", run_linked(state), 42u);
}

CONFORM(cuLinkAddFile, wrong_arguments) {
  CUlinkState state = new_link();
  TextFile good(callee), words("once upon a time");
  CUjit_option option = CUjit_option(99);
  void* value = nullptr;
  expect_code("no state",
              cuLinkAddFile(nullptr, CU_JIT_INPUT_PTX, good.path(), 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("no name", cuLinkAddFile(state, CU_JIT_INPUT_PTX, nullptr, 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("missing",
              cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nonexistent/part.ptx", 0, nullptr, nullptr),
              CUDA_ERROR_FILE_NOT_FOUND);
  expect_code("words", cuLinkAddFile(state, CU_JIT_INPUT_PTX, words.path(), 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_IMAGE);
  expect_code("an unknown option",
              cuLinkAddFile(state, CU_JIT_INPUT_PTX, good.path(), 1, &option, &value),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown type",
              cuLinkAddFile(state, CUjitInputType(77), good.path(), 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuLinkDestroy(state));
  expect_code("destroyed", cuLinkAddFile(state, CU_JIT_INPUT_PTX, good.path(), 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLinkAddFile, needs_a_context, initialised) {
  expect_code("no context", cuLinkAddFile(nullptr, CU_JIT_INPUT_PTX, "x", 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLinkAddFile, needs_cuInit, nothing) {
  expect_code("not initialised", cuLinkAddFile(nullptr, CU_JIT_INPUT_PTX, "x", 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
