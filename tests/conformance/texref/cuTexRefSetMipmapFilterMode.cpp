#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetMipmapFilterMode, levels_and_between) {
  References references;
  Levels levels(8, 8, 4);
  REQUIRE(cuTexRefSetMipmapLevelClamp(references.image, 0, 15));
  REQUIRE(cuTexRefSetMipmappedArray(references.image, levels, CU_TRSA_OVERRIDE_FORMAT));
  expect_code("linear", cuTexRefSetMipmapFilterMode(references.image, CU_TR_FILTER_MODE_LINEAR),
              CUDA_SUCCESS);
  expect("between", references.level(1.25f), 225.0f);
  expect_code("point", cuTexRefSetMipmapFilterMode(references.image, CU_TR_FILTER_MODE_POINT),
              CUDA_SUCCESS);
  expect("the nearest", references.level(1.25f), 200.0f);
}

CONFORM(cuTexRefSetMipmapFilterMode, modes_that_are_none) {
  CUtexref reference = made_reference();
  expect_code("2", cuTexRefSetMipmapFilterMode(reference, CUfilter_mode(2)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("-1", cuTexRefSetMipmapFilterMode(reference, CUfilter_mode(-1)),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefSetMipmapFilterMode, references_that_are_none) {
  refuse_wrong_references([&](CUtexref reference) {
    return cuTexRefSetMipmapFilterMode(reference, CU_TR_FILTER_MODE_POINT);
  });
}

CONFORM_WITH(cuTexRefSetMipmapFilterMode, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexRefSetMipmapFilterMode(nullptr, CU_TR_FILTER_MODE_POINT),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
