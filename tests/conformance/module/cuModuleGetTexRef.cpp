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
              CUDA_ERROR_NOT_FOUND);
  expect_code("a variable", cuModuleGetTexRef(&reference, module, "plain"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuModuleGetTexRef(&reference, module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleGetTexRef(nullptr, module, "tex"), CUDA_ERROR_INVALID_VALUE);
  expect_code("no module", cuModuleGetTexRef(&reference, nullptr, "tex"),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuModuleGetTexRef(&reference, module, "tex"), CUDA_ERROR_INVALID_HANDLE);
}

namespace {

/// A module of some kernels that fetch through `tex` and `surf`, one an instruction.
CUresult load_fetches(const char* head, const std::vector<const char*>& fetches, CUmodule* module) {
  std::string text = std::string(head) +
                     "\n.address_size 64\n.global .texref tex;\n.global .surfref surf;\n";
  for (const char* fetch : fetches)
    text += ".visible .entry k" + std::to_string(text.size()) +
            "(.param .u64 out) {\n  .reg .b64 %o;\n  .reg .b32 %d<4>, %i;\n  .reg .f32 %f;\n"
            "  ld.param.u64 %o, [out];\n  mov.u32 %i, %tid.x;\n  cvt.rn.f32.u32 %f, %i;\n  " +
            std::string(fetch) + ";\n  st.global.v4.u32 [%o], {%d0, %d1, %d2, %d3};\n  ret;\n}\n";
  return cuModuleLoadData(module, text.c_str());
}

}  // namespace

// NVIDIA's compiler (13.0) crashes where a kernel with references follows one with tex.level.
CONFORM(cuModuleGetTexRef, of_kernels_that_fetch) {
  constexpr const char *row = "tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [tex, {%f}]",
                       *surface = "suld.b.1d.v4.b32.trap {%d0, %d1, %d2, %d3}, [surf, {%i}]",
                       *level = "tex.level.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [tex, {%f, %f}], %f";
  CUmodule module = nullptr;
  CUtexref reference = nullptr;
  expect_code("two kernels", load_fetches(".version 8.0\n.target sm_75", {row, surface}, &module),
              CUDA_SUCCESS);
  expect_code("their reference", cuModuleGetTexRef(&reference, module, "tex"), CUDA_SUCCESS);
  module = nullptr;
  expect_code("a level last",
              load_fetches(".version 8.0\n.target sm_75", {row, surface, level}, &module),
              CUDA_SUCCESS);
  expect_code("its reference", cuModuleGetTexRef(&reference, module, "tex"), CUDA_SUCCESS);
  module = nullptr;
  expect_code("an old language",
              load_fetches(".version 6.0\n.target sm_60, texmode_unified", {row, surface, level},
                           &module),
              CUDA_SUCCESS);
  expect_code("an old reference", cuModuleGetTexRef(&reference, module, "tex"), CUDA_SUCCESS);
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
