#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetArray, is_what_was_bound) {
  References references;
  Row row;
  Buffer memory(64);
  CUarray got = nullptr;
  expect_code("nothing is bound", cuTexRefGetArray(&got, references.image),
              CUDA_ERROR_INVALID_VALUE);
  references.bind(row);
  expect_code("asked", cuTexRefGetArray(&got, references.image), CUDA_SUCCESS);
  expect_true("the array", got == row);
  expect_code("nowhere", cuTexRefGetArray(nullptr, references.image), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuTexRefSetAddress(nullptr, references.image, memory, 64));
  expect_code("memory is bound", cuTexRefGetArray(&got, references.image),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefGetArray, of_a_reference_without_a_module) {
  CUtexref reference = made_reference();
  Row row;
  REQUIRE(cuTexRefSetArray(reference, row, CU_TRSA_OVERRIDE_FORMAT));
  CUarray got = nullptr;
  expect_code("asked", cuTexRefGetArray(&got, reference), CUDA_SUCCESS);
  expect_true("the array", got == row);
}

CONFORM(cuTexRefGetArray, references_that_are_none) {
  CUarray array = nullptr;
  refuse_wrong_references([&](CUtexref reference) { return cuTexRefGetArray(&array, reference); });
}

CONFORM_WITH(cuTexRefGetArray, needs_cuInit, nothing) {
  CUarray array = nullptr;
  expect_code("not initialised", cuTexRefGetArray(&array, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
