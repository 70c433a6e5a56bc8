#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetMipmappedArray, what_kernels_read) {
  References references;
  Levels levels(8, 8, 4);
  REQUIRE(cuTexRefSetMipmapLevelClamp(references.image, 0, 15));
  expect_code("bound", cuTexRefSetMipmappedArray(references.image, levels, CU_TRSA_OVERRIDE_FORMAT),
              CUDA_SUCCESS);
  expect("level 0", references.level(0), 100.0f);
  expect("level 2", references.level(2), 300.0f);
  expect("beyond the last", references.level(9), 400.0f);
}

CONFORM(cuTexRefSetMipmappedArray, arguments_that_cannot_be) {
  References references;
  Levels levels(8, 8, 4);
  auto answers = [&](const char* label, CUmipmappedArray array, unsigned flags, CUresult code) {
    expect_code(label, cuTexRefSetMipmappedArray(references.image, array, flags), code);
  };
  answers("no flags", levels, 0, CUDA_SUCCESS);
  answers("no levels", nullptr, CU_TRSA_OVERRIDE_FORMAT, CUDA_ERROR_INVALID_HANDLE);
  answers("foreign levels", foreign_handle<CUmipmappedArray>(), CU_TRSA_OVERRIDE_FORMAT,
          CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuTexRefSetMipmappedArray, references_that_are_none) {
  refuse_wrong_references([&](CUtexref reference) {
    return cuTexRefSetMipmappedArray(reference, foreign_handle<CUmipmappedArray>(),
                                     CU_TRSA_OVERRIDE_FORMAT);
  });
}

CONFORM_WITH(cuTexRefSetMipmappedArray, needs_cuInit, nothing) {
  expect_code("not initialised",
              cuTexRefSetMipmappedArray(nullptr, foreign_handle<CUmipmappedArray>(),
                                        CU_TRSA_OVERRIDE_FORMAT),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
