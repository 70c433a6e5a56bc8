#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetMipmapFilterMode, is_what_was_set) {
  CUtexref reference = made_reference();
  CUfilter_mode value{};
  REQUIRE(cuTexRefSetMipmapFilterMode(reference, CU_TR_FILTER_MODE_LINEAR));
  expect_code("CU_TR_FILTER_MODE_LINEAR", cuTexRefGetMipmapFilterMode(&value, reference),
              CUDA_SUCCESS);
  expect("value CU_TR_FILTER_MODE_LINEAR", value, CU_TR_FILTER_MODE_LINEAR);
  REQUIRE(cuTexRefSetMipmapFilterMode(reference, CU_TR_FILTER_MODE_POINT));
  expect_code("CU_TR_FILTER_MODE_POINT", cuTexRefGetMipmapFilterMode(&value, reference),
              CUDA_SUCCESS);
  expect("value CU_TR_FILTER_MODE_POINT", value, CU_TR_FILTER_MODE_POINT);
}

CONFORM(cuTexRefGetMipmapFilterMode, of_a_module) {
  References references;
  CUfilter_mode value{};
  REQUIRE(cuTexRefSetMipmapFilterMode(references.image, CU_TR_FILTER_MODE_LINEAR));
  expect_code("asked", cuTexRefGetMipmapFilterMode(&value, references.image), CUDA_SUCCESS);
  expect("value", value, CU_TR_FILTER_MODE_LINEAR);
  expect_code("nowhere", cuTexRefGetMipmapFilterMode(nullptr, references.image),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefGetMipmapFilterMode, references_that_are_none) {
  CUfilter_mode value{};
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefGetMipmapFilterMode(&value, reference); });
}

CONFORM_WITH(cuTexRefGetMipmapFilterMode, needs_cuInit, nothing) {
  CUfilter_mode value{};
  expect_code("not initialised", cuTexRefGetMipmapFilterMode(&value, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
