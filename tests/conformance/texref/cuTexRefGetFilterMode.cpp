#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetFilterMode, is_what_was_set) {
  CUtexref reference = made_reference();
  CUfilter_mode value{};
  expect_code("at first", cuTexRefGetFilterMode(&value, reference), CUDA_SUCCESS);
  expect("first value", value, CU_TR_FILTER_MODE_POINT);
  REQUIRE(cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_LINEAR));
  expect_code("CU_TR_FILTER_MODE_LINEAR", cuTexRefGetFilterMode(&value, reference), CUDA_SUCCESS);
  expect("value CU_TR_FILTER_MODE_LINEAR", value, CU_TR_FILTER_MODE_LINEAR);
  REQUIRE(cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_POINT));
  expect_code("CU_TR_FILTER_MODE_POINT", cuTexRefGetFilterMode(&value, reference), CUDA_SUCCESS);
  expect("value CU_TR_FILTER_MODE_POINT", value, CU_TR_FILTER_MODE_POINT);
}

CONFORM(cuTexRefGetFilterMode, of_a_module) {
  References references;
  CUfilter_mode value{};
  REQUIRE(cuTexRefSetFilterMode(references.image, CU_TR_FILTER_MODE_LINEAR));
  expect_code("asked", cuTexRefGetFilterMode(&value, references.image), CUDA_SUCCESS);
  expect("value", value, CU_TR_FILTER_MODE_LINEAR);
  expect_code("nowhere", cuTexRefGetFilterMode(nullptr, references.image),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefGetFilterMode, references_that_are_none) {
  CUfilter_mode value{};
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefGetFilterMode(&value, reference); });
}

CONFORM_WITH(cuTexRefGetFilterMode, needs_cuInit, nothing) {
  CUfilter_mode value{};
  expect_code("not initialised", cuTexRefGetFilterMode(&value, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
