#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetMipmapLevelBias, moves_the_level) {
  References references;
  Levels levels(8, 8, 4);
  REQUIRE(cuTexRefSetMipmapLevelClamp(references.image, 0, 15));
  REQUIRE(cuTexRefSetMipmappedArray(references.image, levels, CU_TRSA_OVERRIDE_FORMAT));
  expect("at first", references.level(1), 200.0f);
  expect_code("a level up", cuTexRefSetMipmapLevelBias(references.image, 1), CUDA_SUCCESS);
  expect("after", references.level(1), 300.0f);
  expect_code("a level down", cuTexRefSetMipmapLevelBias(references.image, -1), CUDA_SUCCESS);
  expect("in the end", references.level(1), 100.0f);
}

CONFORM(cuTexRefSetMipmapLevelBias, references_that_are_none) {
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefSetMipmapLevelBias(reference, 1.0f); });
}

CONFORM_WITH(cuTexRefSetMipmapLevelBias, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexRefSetMipmapLevelBias(nullptr, 1.0f),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
