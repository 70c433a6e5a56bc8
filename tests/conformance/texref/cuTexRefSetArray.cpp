#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetArray, what_kernels_read) {
  References references;
  Row row;
  expect_code("bound", cuTexRefSetArray(references.image, row, CU_TRSA_OVERRIDE_FORMAT),
              CUDA_SUCCESS);
  expect("values", references.row({0.5f, 1.5f, 2.5f, 3.5f}), listed(Floats{1, 2, 4, 8}));
  Texels other(CU_AD_FORMAT_UNSIGNED_INT8, 1, 2);
  other.put<uint8_t>({255, 0});
  expect_code("another", cuTexRefSetArray(references.image, other, CU_TRSA_OVERRIDE_FORMAT),
              CUDA_SUCCESS);
  expect("its values", references.row({0.5f, 1.5f}), listed(Floats{1, 0}));
}

// A launch takes the binding that holds when it is made.
CONFORM(cuTexRefSetArray, launches_keep_their_binding) {
  References references;
  Row row;
  Texels other(CU_AD_FORMAT_FLOAT, 1, 2);
  other.put<float>({71, 72});
  references.bind(row);
  Buffer out(32);
  // A kernel that is loaded at its first use may wait for those that run.
  expect("nothing held", references.row(1.5f), 2.0f);
  HeldStream stream;
  references.start("row", out, 1.5f, 0, 0, stream);
  expect_code("another", cuTexRefSetArray(references.image, other, CU_TRSA_OVERRIDE_FORMAT),
              CUDA_SUCCESS);
  references.start("row", out.at(16), 1.5f, 0, 0, stream);
  stream.open();
  expect("the launch before", read<float>(out), 2.0f);
  expect("the launch after", read<float>(out.at(16)), 72.0f);
}

CONFORM(cuTexRefSetArray, arguments_that_cannot_be) {
  References references;
  Row row;
  references.bind(row);
  expect_code("no flags", cuTexRefSetArray(references.image, row, 0), CUDA_SUCCESS);
  expect_code("other flags", cuTexRefSetArray(references.image, row, 2), CUDA_ERROR_INVALID_VALUE);
  expect_code("no array", cuTexRefSetArray(references.image, nullptr, CU_TRSA_OVERRIDE_FORMAT),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code(
      "a foreign array",
      cuTexRefSetArray(references.image, foreign_handle<CUarray>(), CU_TRSA_OVERRIDE_FORMAT),
      CUDA_ERROR_INVALID_CONTEXT);
  expect("what was bound still is", references.row(1.5f), 2.0f);
}

CONFORM(cuTexRefSetArray, references_that_are_none) {
  refuse_wrong_references([&](CUtexref reference) {
    return cuTexRefSetArray(reference, foreign_handle<CUarray>(), CU_TRSA_OVERRIDE_FORMAT);
  });
}

CONFORM_WITH(cuTexRefSetArray, needs_cuInit, nothing) {
  expect_code("not initialised",
              cuTexRefSetArray(nullptr, foreign_handle<CUarray>(), CU_TRSA_OVERRIDE_FORMAT),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
