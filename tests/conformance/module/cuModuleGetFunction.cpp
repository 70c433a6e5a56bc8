#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuModuleGetFunction, kernels_by_name) {
  CUmodule module = load_module(program);
  CUfunction first = nullptr, again = nullptr, second = nullptr;
  expect_code("first", cuModuleGetFunction(&first, module, "first"), CUDA_SUCCESS);
  expect_code("first again", cuModuleGetFunction(&again, module, "first"), CUDA_SUCCESS);
  expect_true("the same handle", first == again && first);
  expect_code("second", cuModuleGetFunction(&second, module, "second"), CUDA_SUCCESS);
  expect_true("another", second != first);
  Buffer word(4);
  REQUIRE(launch(second, 1, 1, nullptr, word.at()));
  expect("it runs", read<uint32_t>(word), 12u);
  CUmodule other = load_module(program);
  expect_code("of another module", cuModuleGetFunction(&again, other, "first"), CUDA_SUCCESS);
  expect_true("its own", again != first);
}

CONFORM(cuModuleGetFunction, wrong_arguments) {
  CUmodule module = load_module(program);
  CUfunction function = nullptr;
  expect_code("no such name", cuModuleGetFunction(&function, module, "third"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("the name of a variable", cuModuleGetFunction(&function, module, "counter"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("the empty name", cuModuleGetFunction(&function, module, ""), CUDA_ERROR_NOT_FOUND);
  expect_code("a part of a name", cuModuleGetFunction(&function, module, "firs"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuModuleGetFunction(&function, module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleGetFunction(nullptr, module, "first"), CUDA_ERROR_INVALID_VALUE);
  expect_code("no module", cuModuleGetFunction(&function, nullptr, "first"),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuModuleGetFunction(&function, module, "first"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuModuleGetFunction, foreign_memory) {
  CUfunction function = nullptr;
  expect_code("refused", cuModuleGetFunction(&function, foreign_handle<CUmodule>(), "first"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetFunction, needs_a_context, initialised) {
  CUfunction f;
  expect_code("no context", cuModuleGetFunction(&f, nullptr, "first"), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetFunction, needs_cuInit, nothing) {
  CUfunction f;
  expect_code("not initialised", cuModuleGetFunction(&f, nullptr, "first"),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
