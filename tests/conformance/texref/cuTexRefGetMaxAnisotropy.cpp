#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetMaxAnisotropy, is_what_was_set) {
  CUtexref reference = made_reference();
  int value{};
  REQUIRE(cuTexRefSetMaxAnisotropy(reference, 4));
  expect_code("4", cuTexRefGetMaxAnisotropy(&value, reference), CUDA_SUCCESS);
  expect("value 4", value, 4);
  REQUIRE(cuTexRefSetMaxAnisotropy(reference, 16));
  expect_code("16", cuTexRefGetMaxAnisotropy(&value, reference), CUDA_SUCCESS);
  expect("value 16", value, 16);
}

CONFORM(cuTexRefGetMaxAnisotropy, of_a_module) {
  References references;
  int value{};
  REQUIRE(cuTexRefSetMaxAnisotropy(references.image, 4));
  expect_code("asked", cuTexRefGetMaxAnisotropy(&value, references.image), CUDA_SUCCESS);
  expect("value", value, 4);
  expect_code("nowhere", cuTexRefGetMaxAnisotropy(nullptr, references.image),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefGetMaxAnisotropy, references_that_are_none) {
  int value{};
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefGetMaxAnisotropy(&value, reference); });
}

CONFORM_WITH(cuTexRefGetMaxAnisotropy, needs_cuInit, nothing) {
  int value{};
  expect_code("not initialised", cuTexRefGetMaxAnisotropy(&value, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
