#include "conformance/conform.h"
#include "conformance/linked.h"

namespace limen::conform {

CONFORM(cuLinkComplete, gives_an_image_that_loads) {
  CUlinkState state = new_link();
  add_text(state, callee);
  add_text(state, caller);
  void *image = nullptr, *again = nullptr;
  size_t bytes = 0, size = 0;
  expect_code("completes", cuLinkComplete(state, &image, &bytes), CUDA_SUCCESS);
  expect_true("an image", image && bytes > 100);
  expect("it runs", run_image(image), 42u);
  expect_code("again", cuLinkComplete(state, &again, &size), CUDA_SUCCESS);  // to measure on H200
  expect_true("the same image", again == image && size == bytes);            // to measure on H200
  expect_code("a part too late",
              cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(callee),
                            std::strlen(callee) + 1, "late", 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
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
              CUDA_ERROR_INVALID_PTX);  // to measure on H200
  expect_true("is named", std::strstr(error, "triple") != nullptr);
  state = new_link();
  add_text(state, callee);
  add_text(state, callee);
  expect_code("a function twice", cuLinkComplete(state, &image, &bytes),
              CUDA_ERROR_INVALID_PTX);  // to measure on H200
  state = new_link();
  expect_code("no part at all", cuLinkComplete(state, &image, &bytes),
              CUDA_SUCCESS);  // to measure on H200
}

CONFORM(cuLinkComplete, wrong_arguments) {
  CUlinkState state = new_link();
  add_text(state, callee);
  void* image = nullptr;
  size_t bytes = 0;
  expect_code("no state", cuLinkComplete(nullptr, &image, &bytes), CUDA_ERROR_INVALID_HANDLE);
  expect_code("no image", cuLinkComplete(state, nullptr, &bytes), CUDA_ERROR_INVALID_VALUE);
  expect_code("no size", cuLinkComplete(state, &image, nullptr),
              CUDA_SUCCESS);  // to measure on H200
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
  expect_code("not initialised", cuLinkComplete(nullptr, &i, &n), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
