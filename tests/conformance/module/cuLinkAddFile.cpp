#include "conformance/conform.h"
#include "conformance/linked.h"

namespace limen::conform {

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
              CUDA_ERROR_INVALID_PTX);  // to measure on H200
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
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
