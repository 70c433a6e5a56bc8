#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetBorderColor, is_read_outside) {
  References references;
  Texels row(CU_AD_FORMAT_FLOAT, 4, 2);
  row.put<float>({1, 2, 3, 4, 5, 6, 7, 8});
  references.bind(row);
  REQUIRE(cuTexRefSetAddressMode(references.image, 0, CU_TR_ADDRESS_MODE_BORDER));
  float color[] = {11, 12, 13, 14};
  expect_code("set", cuTexRefSetBorderColor(references.image, color), CUDA_SUCCESS);
  color[0] = 99;
  expect("outside", listed(as_floats(references.fetch("row", -1))), listed(Floats{11, 12, 13, 14}));
  expect("inside", listed(as_floats(references.fetch("row", 1.5f))), listed(Floats{5, 6, 7, 8}));
}

CONFORM(cuTexRefSetBorderColor, no_color) {
  expect_code("null", cuTexRefSetBorderColor(made_reference(), nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefSetBorderColor, references_that_are_none) {
  float color[4] = {};
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefSetBorderColor(reference, color); });
}

CONFORM_WITH(cuTexRefSetBorderColor, needs_cuInit, nothing) {
  float color[4] = {};
  expect_code("not initialised", cuTexRefSetBorderColor(nullptr, color),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
