#include "conformance/conform.h"
#include "conformance/fat_binary.h"
#include "conformance/linked.h"

namespace limen::conform {

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
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  expect_code("unknown type", add(state, CUjitInputType(77), callee, std::strlen(callee) + 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("an unknown option",
              cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(callee),
                            std::strlen(callee) + 1, "p", 1, &option, &value),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("words", add(state, CU_JIT_INPUT_PTX, "once upon a time", 17),
              CUDA_ERROR_INVALID_PTX);  // to measure on H200
  expect_code("text as a fat binary",
              add(state, CU_JIT_INPUT_FATBINARY, callee, std::strlen(callee) + 1),
              CUDA_ERROR_INVALID_IMAGE);  // to measure on H200
  expect_code("words as a cubin", add(state, CU_JIT_INPUT_CUBIN, "once upon a time", 17),
              CUDA_ERROR_INVALID_IMAGE);  // to measure on H200
  REQUIRE(cuLinkDestroy(state));
  expect_code("destroyed", add(state, CU_JIT_INPUT_PTX, callee, 10), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLinkAddData, needs_a_context, initialised) {
  expect_code("no context", add(nullptr, CU_JIT_INPUT_PTX, callee, 10), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLinkAddData, needs_cuInit, nothing) {
  expect_code("not initialised", add(nullptr, CU_JIT_INPUT_PTX, callee, 10),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
