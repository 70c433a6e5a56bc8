#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetAddressMode, of_a_row) {
  References references;
  Row row;
  references.bind(row);
  REQUIRE(cuTexRefSetFlags(references.image, CU_TRSF_NORMALIZED_COORDINATES));
  expect("clamp at first", references.row({1.125f, -0.125f}), listed(Floats{8, 1}));
  expect_code("wrap", cuTexRefSetAddressMode(references.image, 0, CU_TR_ADDRESS_MODE_WRAP),
              CUDA_SUCCESS);
  expect("wrapped", references.row({1.125f, -0.125f}), listed(Floats{1, 8}));
  expect_code("mirror", cuTexRefSetAddressMode(references.image, 0, CU_TR_ADDRESS_MODE_MIRROR),
              CUDA_SUCCESS);
  expect("mirrored", references.row({1.125f, -0.375f}), listed(Floats{8, 2}));
  expect_code("border", cuTexRefSetAddressMode(references.image, 0, CU_TR_ADDRESS_MODE_BORDER),
              CUDA_SUCCESS);
  expect("outside is the border", references.row({1.125f, 0.875f}), listed(Floats{0, 8}));
}

CONFORM(cuTexRefSetAddressMode, by_axis) {
  References references;
  Texels plane(CU_AD_FORMAT_FLOAT, 1, 2, 2);
  plane.put<float>({1, 2, 4, 8});
  references.bind(plane);
  REQUIRE(cuTexRefSetFlags(references.image, CU_TRSF_NORMALIZED_COORDINATES));
  expect_code("second wraps", cuTexRefSetAddressMode(references.image, 1, CU_TR_ADDRESS_MODE_WRAP),
              CUDA_SUCCESS);
  expect("x is clamped", references.at(1.25f, 0.25f), 2.0f);
  expect("y wraps", references.at(0.25f, 1.25f), 1.0f);
}

CONFORM(cuTexRefSetAddressMode, arguments_that_cannot_be) {
  CUtexref reference = made_reference();
  expect_code("axis 3", cuTexRefSetAddressMode(reference, 3, CU_TR_ADDRESS_MODE_CLAMP),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("axis -1", cuTexRefSetAddressMode(reference, -1, CU_TR_ADDRESS_MODE_CLAMP),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("mode 4", cuTexRefSetAddressMode(reference, 0, CUaddress_mode(4)), CUDA_SUCCESS);
  expect_code("mode -1", cuTexRefSetAddressMode(reference, 0, CUaddress_mode(-1)), CUDA_SUCCESS);
}

CONFORM(cuTexRefSetAddressMode, references_that_are_none) {
  refuse_wrong_references([&](CUtexref reference) {
    return cuTexRefSetAddressMode(reference, 0, CU_TR_ADDRESS_MODE_CLAMP);
  });
}

CONFORM_WITH(cuTexRefSetAddressMode, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexRefSetAddressMode(nullptr, 0, CU_TR_ADDRESS_MODE_CLAMP),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
