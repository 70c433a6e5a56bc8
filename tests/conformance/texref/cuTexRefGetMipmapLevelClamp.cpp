#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetMipmapLevelClamp, is_what_was_set) {
  CUtexref reference = made_reference();
  float low = -1, high = -1;
  REQUIRE(cuTexRefSetMipmapLevelClamp(reference, 0.5f, 3));
  expect_code("asked", cuTexRefGetMipmapLevelClamp(&low, &high, reference), CUDA_SUCCESS);
  expect("low", low, 0.5f);
  expect("high", high, 3.0f);
  expect_code("no place for the low one", cuTexRefGetMipmapLevelClamp(nullptr, &high, reference),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no place for the high one", cuTexRefGetMipmapLevelClamp(&low, nullptr, reference),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefGetMipmapLevelClamp, references_that_are_none) {
  float low = 0, high = 0;
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefGetMipmapLevelClamp(&low, &high, reference); });
}

CONFORM_WITH(cuTexRefGetMipmapLevelClamp, needs_cuInit, nothing) {
  float low = 0, high = 0;
  expect_code("not initialised", cuTexRefGetMipmapLevelClamp(&low, &high, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
