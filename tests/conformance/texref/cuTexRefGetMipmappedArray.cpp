#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetMipmappedArray, is_what_was_bound) {
  CUtexref reference = made_reference();
  Levels levels(8, 8, 4);
  Row row;
  CUmipmappedArray got = nullptr;
  expect_code("nothing is bound", cuTexRefGetMipmappedArray(&got, reference),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuTexRefSetMipmappedArray(reference, levels, CU_TRSA_OVERRIDE_FORMAT));
  expect_code("asked", cuTexRefGetMipmappedArray(&got, reference), CUDA_SUCCESS);
  expect_true("the levels", got == levels);
  expect_code("nowhere", cuTexRefGetMipmappedArray(nullptr, reference), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuTexRefSetArray(reference, row, CU_TRSA_OVERRIDE_FORMAT));
  expect_code("an array is bound", cuTexRefGetMipmappedArray(&got, reference),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefGetMipmappedArray, references_that_are_none) {
  CUmipmappedArray levels = nullptr;
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefGetMipmappedArray(&levels, reference); });
}

CONFORM_WITH(cuTexRefGetMipmappedArray, needs_cuInit, nothing) {
  CUmipmappedArray levels = nullptr;
  expect_code("not initialised", cuTexRefGetMipmappedArray(&levels, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
