#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetMipmapLevelClamp, bounds_the_level) {
  References references;
  Levels levels(8, 8, 4);
  REQUIRE(cuTexRefSetMipmappedArray(references.image, levels, CU_TRSA_OVERRIDE_FORMAT));
  expect_code("from 1 to 2", cuTexRefSetMipmapLevelClamp(references.image, 1, 2), CUDA_SUCCESS);
  expect("below", references.level(0), 200.0f);
  expect("above", references.level(3), 300.0f);
  expect_code("from 0 to 15", cuTexRefSetMipmapLevelClamp(references.image, 0, 15), CUDA_SUCCESS);
  expect("the first", references.level(0), 100.0f);
  expect("the last", references.level(3), 400.0f);
}

CONFORM(cuTexRefSetMipmapLevelClamp, references_that_are_none) {
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefSetMipmapLevelClamp(reference, 0.0f, 1.0f); });
}

CONFORM_WITH(cuTexRefSetMipmapLevelClamp, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexRefSetMipmapLevelClamp(nullptr, 0.0f, 1.0f),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
