#include "conformance/conform.h"
#include "conformance/linked.h"

namespace limen::conform {

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
  expect_code("a part",
              cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(callee), 10, "late", 0,
                            nullptr, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("twice", cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
  expect_code("none", cuLinkDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  state = new_link();
  expect_code("before it is complete", cuLinkDestroy(state), CUDA_SUCCESS);
}

CONFORM_WITH(cuLinkDestroy, needs_a_context, initialised) {
  expect_code("no context", cuLinkDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLinkDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuLinkDestroy(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
