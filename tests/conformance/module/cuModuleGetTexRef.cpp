#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

namespace {

constexpr const char* references =
    ".version 7.0\n.target sm_70\n.address_size 64\n.global .texref tex;\n.global .surfref "
    "surf;\n.visible .global .u32 plain;\n.visible .entry k() { ret; }\n";

}  // namespace

CONFORM(cuModuleGetTexRef, references_by_name) {
  CUmodule module = module_of_text(references);
  CUtexref reference = nullptr, again = nullptr;
  expect_code("asks", cuModuleGetTexRef(&reference, module, "tex"), CUDA_SUCCESS);
  expect_code("again", cuModuleGetTexRef(&again, module, "tex"), CUDA_SUCCESS);
  expect_true("the same handle", reference == again && reference);
  REQUIRE(cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_LINEAR));
  CUfilter_mode mode = CU_TR_FILTER_MODE_POINT;
  REQUIRE(cuTexRefGetFilterMode(&mode, again));
  expect("it is a reference", mode, CU_TR_FILTER_MODE_LINEAR);
  expect_code("no such name", cuModuleGetTexRef(&reference, module, "nobody"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("a surface", cuModuleGetTexRef(&reference, module, "surf"),
              CUDA_ERROR_NOT_FOUND);  // to measure on H200
  expect_code("a variable", cuModuleGetTexRef(&reference, module, "plain"),
              CUDA_ERROR_NOT_FOUND);  // to measure on H200
  expect_code("no name", cuModuleGetTexRef(&reference, module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleGetTexRef(nullptr, module, "tex"), CUDA_ERROR_INVALID_VALUE);
  expect_code("no module", cuModuleGetTexRef(&reference, nullptr, "tex"),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuModuleGetTexRef(&reference, module, "tex"), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetTexRef, needs_a_context, initialised) {
  CUtexref r;
  expect_code("no context", cuModuleGetTexRef(&r, nullptr, "tex"), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetTexRef, needs_cuInit, nothing) {
  CUtexref r;
  expect_code("not initialised", cuModuleGetTexRef(&r, nullptr, "tex"), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
