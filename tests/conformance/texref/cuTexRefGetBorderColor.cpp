#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetBorderColor, is_what_was_set) {
  CUtexref reference = made_reference();
  Floats color = {9, 9, 9, 9};
  expect_code("at first", cuTexRefGetBorderColor(color.data(), reference), CUDA_SUCCESS);
  expect("zeros", listed(color), listed(Floats{0, 0, 0, 0}));
  float set[] = {0.25f, -1, 2, 1};
  REQUIRE(cuTexRefSetBorderColor(reference, set));
  expect_code("after", cuTexRefGetBorderColor(color.data(), reference), CUDA_SUCCESS);
  expect("colour", listed(color), listed(Floats{0.25f, -1, 2, 1}));
  expect_code("nowhere", cuTexRefGetBorderColor(nullptr, reference), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefGetBorderColor, references_that_are_none) {
  float color[4] = {};
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefGetBorderColor(color, reference); });
}

CONFORM_WITH(cuTexRefGetBorderColor, needs_cuInit, nothing) {
  float color[4] = {};
  expect_code("not initialised", cuTexRefGetBorderColor(color, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
