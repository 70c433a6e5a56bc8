#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetFlags, normalized_coordinates) {
  References references;
  Row row;
  references.bind(row);
  expect("texels at first", references.row(1.5f), 2.0f);
  expect_code("normalized", cuTexRefSetFlags(references.image, CU_TRSF_NORMALIZED_COORDINATES),
              CUDA_SUCCESS);
  expect("fractions", references.row({0.125f, 0.875f}), listed(Floats{1, 8}));
  expect_code("none", cuTexRefSetFlags(references.image, 0), CUDA_SUCCESS);
  expect("texels again", references.row(1.5f), 2.0f);
}

CONFORM(cuTexRefSetFlags, integers) {
  References references;
  Texels bytes(CU_AD_FORMAT_UNSIGNED_INT8, 1, 2);
  bytes.put<uint8_t>({0, 255});
  references.bind(bytes);
  expect("as fractions", references.row(1.5f), 1.0f);
  expect_code("as integers", cuTexRefSetFlags(references.image, CU_TRSF_READ_AS_INTEGER),
              CUDA_SUCCESS);
  expect("an integer", references.fetch("words", 1.5f)[0], 255u);
}

CONFORM(cuTexRefSetFlags, flags_that_are_none) {
  CUtexref reference = made_reference();
  expect_code("0x100", cuTexRefSetFlags(reference, 0x100),
              CUDA_ERROR_INVALID_VALUE);
  unsigned flags = 7;
  REQUIRE(cuTexRefGetFlags(&flags, reference));
  expect("kept", flags, 0u);
}

CONFORM(cuTexRefSetFlags, references_that_are_none) {
  refuse_wrong_references([&](CUtexref reference) { return cuTexRefSetFlags(reference, 0u); });
}

CONFORM_WITH(cuTexRefSetFlags, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexRefSetFlags(nullptr, 0u), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
