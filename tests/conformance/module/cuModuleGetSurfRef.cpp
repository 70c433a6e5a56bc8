#include "conformance/arrays.h"
#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

namespace {

constexpr const char* references =
    ".version 7.0\n.target sm_70\n.address_size 64\n.global .texref tex;\n.global .surfref "
    "surf;\n.visible .global .u32 plain;\n.visible .entry k() { ret; }\n";

}  // namespace

CONFORM(cuModuleGetSurfRef, references_by_name) {
  CUmodule module = module_of_text(references);
  CUsurfref reference = nullptr, again = nullptr;
  expect_code("asks", cuModuleGetSurfRef(&reference, module, "surf"), CUDA_SUCCESS);
  expect_code("again", cuModuleGetSurfRef(&again, module, "surf"), CUDA_SUCCESS);
  expect_true("the same handle", reference == again && reference);
  CUarray array = make_array(16, 16, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST),
          bound = nullptr;
  REQUIRE(cuSurfRefSetArray(reference, array, 0));
  REQUIRE(cuSurfRefGetArray(&bound, again));
  expect_true("it is a reference", bound == array);
  expect_code("no such name", cuModuleGetSurfRef(&reference, module, "nobody"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("a texture", cuModuleGetSurfRef(&reference, module, "tex"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("a variable", cuModuleGetSurfRef(&reference, module, "plain"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuModuleGetSurfRef(&reference, module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleGetSurfRef(nullptr, module, "surf"), CUDA_ERROR_INVALID_VALUE);
  expect_code("no module", cuModuleGetSurfRef(&reference, nullptr, "surf"),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuModuleGetSurfRef(&reference, module, "surf"),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetSurfRef, needs_a_context, initialised) {
  CUsurfref r;
  expect_code("no context", cuModuleGetSurfRef(&r, nullptr, "surf"), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuModuleGetSurfRef, needs_cuInit, nothing) {
  CUsurfref r;
  expect_code("not initialised", cuModuleGetSurfRef(&r, nullptr, "surf"),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
