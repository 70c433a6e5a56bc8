#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetMipmapLevelBias, is_what_was_set) {
  CUtexref reference = made_reference();
  float value{};
  expect_code("at first", cuTexRefGetMipmapLevelBias(&value, reference), CUDA_SUCCESS);
  expect("first value", value, 0.0f);
  REQUIRE(cuTexRefSetMipmapLevelBias(reference, 1.5f));
  expect_code("1.5f", cuTexRefGetMipmapLevelBias(&value, reference), CUDA_SUCCESS);
  expect("value 1.5f", value, 1.5f);
  REQUIRE(cuTexRefSetMipmapLevelBias(reference, -2.0f));
  expect_code("-2.0f", cuTexRefGetMipmapLevelBias(&value, reference), CUDA_SUCCESS);
  expect("value -2.0f", value, -2.0f);
}

CONFORM(cuTexRefGetMipmapLevelBias, of_a_module) {
  References references;
  float value{};
  REQUIRE(cuTexRefSetMipmapLevelBias(references.image, 1.5f));
  expect_code("asked", cuTexRefGetMipmapLevelBias(&value, references.image), CUDA_SUCCESS);
  expect("value", value, 1.5f);
  expect_code("nowhere", cuTexRefGetMipmapLevelBias(nullptr, references.image),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefGetMipmapLevelBias, references_that_are_none) {
  float value{};
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefGetMipmapLevelBias(&value, reference); });
}

CONFORM_WITH(cuTexRefGetMipmapLevelBias, needs_cuInit, nothing) {
  float value{};
  expect_code("not initialised", cuTexRefGetMipmapLevelBias(&value, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
