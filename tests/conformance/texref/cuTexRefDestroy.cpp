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
  expect_code("is not for us to destroy", cuTexRefDestroy(references.image), CUDA_SUCCESS);
  // Where kernels are loaded at their first use, those with the reference cannot be any more.
  CUfunction kernel = nullptr;
  const CUresult loaded = cuModuleGetFunction(&kernel, references.module(), "row");
  expect_code("a kernel with it", loaded, CUDA_ERROR_INVALID_IMAGE);
  if (!loaded) expect("it lives", references.row(1.5f), 2.0f);
}

CONFORM(cuTexRefDestroy, references_that_are_none) {
  refuse_wrong_references([&](CUtexref reference) { return cuTexRefDestroy(reference); });
}

CONFORM_WITH(cuTexRefDestroy, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexRefDestroy(nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
