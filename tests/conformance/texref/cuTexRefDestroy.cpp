#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefDestroy, the_handle_is_gone) {
  CUtexref reference = made_reference();
  CUfilter_mode mode{};
  expect_code("destroyed", cuTexRefDestroy(reference), CUDA_SUCCESS);
  expect_code("asked", cuTexRefGetFilterMode(&mode, reference), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuTexRefDestroy, a_modules_own) {
  References references;
  Row row;
  references.bind(row);
  expect_code("is not for us to destroy", cuTexRefDestroy(references.image),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
  expect("it lives", references.row(1.5f), 2.0f);
}

CONFORM(cuTexRefDestroy, references_that_are_none) {
  refuse_wrong_references([&](CUtexref reference) { return cuTexRefDestroy(reference); });
}

CONFORM_WITH(cuTexRefDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexRefDestroy(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
